package httpapi_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
)

// On the public listener the token decides, and nothing else: a reverse proxy on this
// machine makes every caller look like it. Without one no caller is admin there. The admin
// listener needs none, and takes nothing that a web site, a proxy or another machine can
// send. (What shows a proxy is in the tests of package labapi, whose page has the same guard.)
func TestWhoMayReset(t *testing.T) {
	in := embedded(t)
	s := serverWith(t, sells(), httpapi.Config{Instance: in, Token: "s3cret"})
	f := sells()
	tokenless, err := httpapi.New(httpapi.Config{Instance: in, Settings: settings, Default: fakeName, Infos: []catalog.Info{f.info()}})
	labtest.Must(t, err)
	public, private, none := s.Handler(), s.AdminHandler(), tokenless.Handler()
	for i, c := range []struct {
		listener                 http.Handler
		what, peer, host, header string
		status                   int
	}{
		{public, "this machine without the token", here, "127.0.0.1:8081", "", 403},
		{public, "another machine with the token", elsewhere, "shop.example", "Authorization: Bearer s3cret", 200},
		{public, "another machine with a wrong token", elsewhere, "shop.example", "Authorization: Bearer s3creT", 403},
		{public, "the token by another scheme", here, "127.0.0.1", "Authorization: Basic s3cret", 403},
		{none, "an empty token where there is none", here, "127.0.0.1", "Authorization: Bearer ", 403},
		{private, "this machine", here, "127.0.0.1:9081", "", 200},
		{private, "IPv4 in IPv6", "[::ffff:127.0.0.1]:40000", "127.0.0.1", "", 200},
		{private, "its own page", here, "127.0.0.1:9081", "Origin: http://127.0.0.1:9081", 200},
		{private, "another machine", elsewhere, "127.0.0.1:9081", "", 403},
		{private, "a browser here, led by a foreign name", here, "evil.example:9081", "", 403},
		{private, "another site's page", here, "127.0.0.1:9081", "Origin: http://evil.example", 403},
		{private, "an image of another site", here, "127.0.0.1:9081", "Sec-Fetch-Site: cross-site", 403},
		{private, "a proxy", here, "127.0.0.1:9081", "X-Forwarded-For: 127.0.0.1", 403},
	} {
		sku := fmt.Sprintf("/api/v1/skus/%d", i+1)
		request := newRequest("PUT", sku, `{"stock":1}`, cmp.Or(c.header, "Authorization: "))
		request.RemoteAddr, request.Host = c.peer, c.host
		if !strings.HasPrefix(c.header, "Authorization") {
			request.Header.Del("Authorization")
		}
		r := handled(t, c.listener, request)
		if made := ask(t, s, "GET", sku, "").status; r.status != c.status || c.status == 403 && (r.Code != "forbidden" || made != 404) {
			t.Errorf("%s: answered %d %s, want %d; the SKU is answered with %d", c.what, r.status, r.body, c.status, made)
		}
	}
}

func TestListenAdmin(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "unix:", "9081", "example.com"} {
		if l, err := httpapi.ListenAdmin(addr); err == nil {
			l.Close()
			t.Errorf("it listens on %s", addr)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	labtest.Must(t, os.WriteFile(file, []byte("mine"), 0o600))
	if _, err := httpapi.ListenAdmin("unix:" + file); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("in place of a file: %v", err)
	}
}

func TestAdminSocket(t *testing.T) {
	folder, err := os.MkdirTemp("", "s-*") // t.TempDir is too long for a socket's path
	labtest.Must(t, err)
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "admin")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	labtest.Must(t, err)
	dead.SetUnlinkOnClose(false)
	dead.Close() // as one that was killed leaves it
	l, err := httpapi.ListenAdmin("unix:" + path)
	labtest.Must(t, err)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v %v, want mode 0600", info, err)
	}
	s := serverWith(t, sells(), httpapi.Config{})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.ServeAdmin(ctx, l) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}}}
	resp, err := client.Get("http://any.name/api/v1/orders?sku_id=1")
	labtest.Must(t, err)
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("orders of all buyers by the socket: %d %s", resp.StatusCode, body)
	}
	if _, err := httpapi.ListenAdmin("unix:" + path); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("in place of a socket that is in use: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("it leaves %v behind (%v)", left, err)
	}
}
