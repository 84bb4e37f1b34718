package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/httpapi"
)

// On the public listener the token decides, and nothing else: a reverse proxy
// on this machine makes everybody look like it.
func TestWhoMayReset(t *testing.T) {
	in := embedded(t)
	for i, c := range []struct {
		what, token, peer, host, header string
		allowed                         bool
	}{
		{"this machine without the token", "s3cret", here, "127.0.0.1:8081", "Authorization: ", false},
		{"this machine, by name", "s3cret", here, "localhost:8081", "Authorization: ", false},
		{"this machine, IPv6", "s3cret", "[::1]:40000", "[::1]:8081", "Authorization: ", false},
		{"another machine", "s3cret", elsewhere, "192.0.2.1:8081", "Authorization: ", false},
		{"this machine with the token", "s3cret", here, "127.0.0.1", "Authorization: Bearer s3cret", true},
		{"the scheme in small letters", "s3cret", here, "127.0.0.1", "Authorization: bearer s3cret", true},
		{"another machine with the token", "s3cret", elsewhere, "shop.example", "Authorization: Bearer s3cret", true},
		{"another machine with a wrong token", "s3cret", elsewhere, "shop.example", "Authorization: Bearer s3creT", false},
		{"the token with more after it", "s3cret", here, "127.0.0.1", "Authorization: Bearer s3cret2", false},
		{"the token by another scheme", "s3cret", here, "127.0.0.1", "Authorization: Basic s3cret", false},
		{"an empty token", "s3cret", here, "127.0.0.1", "Authorization: Bearer ", false},
	} {
		s := serverWith(t, sells(), httpapi.Config{Instance: in, Token: c.token})
		sku := fmt.Sprintf("/api/v1/skus/%d", i+1)
		request := newRequest("PUT", sku, `{"stock":1}`, c.header)
		request.RemoteAddr, request.Host = c.peer, c.host
		r := do(t, s, request)
		if c.allowed {
			r.want(t, c.what, http.StatusOK, "")
		} else {
			r.want(t, c.what, http.StatusForbidden, "forbidden")
			if stock := ask(t, s, "GET", sku, ""); stock.status != http.StatusNotFound {
				t.Errorf("%s: the SKU was made all the same", c.what)
			}
		}
	}
}

// Without a token nobody is admin, also who sends an empty one.
func TestNoTokenNoAdmin(t *testing.T) {
	if _, err := httpapi.New(httpapi.Config{Instance: embedded(t), Settings: settings, Infos: nil}); err == nil {
		t.Fatal("a server without strategies")
	}
	f := sells()
	c := httpapi.Config{Instance: embedded(t), Settings: settings, Default: fakeName}
	c.Infos = append(c.Infos, f.info())
	s, err := httpapi.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range []string{"Authorization: ", "Authorization: Bearer ", "Authorization: Bearer x"} {
		ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":1}`, header).want(t, header, http.StatusForbidden, "forbidden")
	}
}

// What is the operator's, with and without the token.
func TestAdminCalls(t *testing.T) {
	s := serverWith(t, nil, httpapi.Config{})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":1}`).want(t, "reset", http.StatusOK, "")
	for _, call := range []struct{ method, path, body string }{
		{"PUT", "/api/v1/skus/1", `{"stock":2}`},
		{"GET", "/api/v1/audit?sku_id=1", ""},
		{"GET", "/api/v1/orders?sku_id=1", ""},
		{"GET", "/api/v1/orders?sku_id=1&request_id=k", ""},
		{"POST", "/api/v1/skus/1/close", ""},
	} {
		what := call.method + " " + call.path
		r := ask(t, s, call.method, call.path, call.body, "Authorization: ")
		r.want(t, what+" without the token", http.StatusForbidden, "forbidden")
		if r.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: WWW-Authenticate is %q", what, r.header.Get("WWW-Authenticate"))
		}
		ask(t, s, call.method, call.path, call.body).want(t, what+" with the token", http.StatusOK, "")
	}
	ask(t, s, "GET", "/api/v1/orders?user_id=7", "", "Authorization: ").want(t, "a buyer's orders", http.StatusOK, "")
	ask(t, s, "GET", "/api/v1/orders?user_id=7&request_id=k", "", "Authorization: ").want(t, "a buyer's request", http.StatusOK, "")
}

// The admin listener needs no token, and takes nothing that a web site, a
// proxy or another machine can send.
func TestAdminHandler(t *testing.T) {
	s := serverWith(t, sells(), httpapi.Config{})
	for _, c := range []struct {
		what, peer, host, header string
		status                   int
	}{
		{"this machine", here, "127.0.0.1:9081", "", 200},
		{"by name", here, "localhost:9081", "", 200},
		{"IPv6", "[::1]:40000", "[::1]:9081", "", 200},
		{"IPv4 in IPv6", "[::ffff:127.0.0.1]:40000", "127.0.0.1", "", 200},
		{"another loopback address", "127.8.9.10:1", "127.8.9.10", "", 200},
		{"its own page", here, "127.0.0.1:9081", "Origin: http://127.0.0.1:9081", 200},
		{"another machine", elsewhere, "127.0.0.1:9081", "", 403},
		{"nobody knows who", "@", "127.0.0.1", "", 403},
		{"a browser here, led by a foreign name", here, "evil.example:9081", "", 403},
		{"a foreign address", here, "192.0.2.1:9081", "", 403},
		{"another site's page", here, "127.0.0.1:9081", "Origin: http://evil.example", 403},
		{"a page of nowhere", here, "127.0.0.1:9081", "Origin: null", 403},
		{"an image of another site", here, "127.0.0.1:9081", "Sec-Fetch-Site: cross-site", 403},
		{"a page of another port", here, "127.0.0.1:9081", "Sec-Fetch-Site: same-site", 403},
		{"a proxy", here, "127.0.0.1:9081", "X-Forwarded-For: 127.0.0.1", 403},
		{"a proxy, standard header", here, "127.0.0.1:9081", "Forwarded: for=127.0.0.1", 403},
		{"a proxy, other header", here, "127.0.0.1:9081", "X-Real-Ip: 127.0.0.1", 403},
	} {
		request := newRequest("PUT", "/api/v1/skus/1", `{"stock":1}`, "Authorization: ")
		request.RemoteAddr, request.Host = c.peer, c.host
		if name, value, ok := strings.Cut(c.header, ": "); ok {
			request.Header.Set(name, value)
		}
		r := handled(t, s.AdminHandler(), request)
		if r.status != c.status {
			t.Errorf("%s: answered %d %s, want %d", c.what, r.status, r.body, c.status)
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
	open, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	s := serverWith(t, sells(), httpapi.Config{})
	if err := s.ServeAdmin(t.Context(), open); err == nil || !strings.Contains(err.Error(), "other machines") {
		t.Errorf("ServeAdmin on %s: %v", open.Addr(), err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := httpapi.ListenAdmin("unix:" + file); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("in place of a file: %v", err)
	}
}

func TestAdminSocket(t *testing.T) {
	folder, err := os.MkdirTemp("", "s-*") // t.TempDir is too long for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "admin")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close() // as one that was killed leaves it
	l, err := httpapi.ListenAdmin("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
