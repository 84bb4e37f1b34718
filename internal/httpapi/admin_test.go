package httpapi_test

import (
	"cmp"
	"fmt"
	"net/http"
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

func TestCheckAdminAddr(t *testing.T) {
	for addr, right := range map[string]bool{"127.0.0.1:0": true, "[::1]:9081": true, "0.0.0.0:0": false, ":0": false, "[::]:0": false,
		"192.0.2.1:0": false, "unix:/path": false, "9081": false, "example.com": false} {
		if err := httpapi.CheckAdminAddr(addr); (err == nil) != right {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
