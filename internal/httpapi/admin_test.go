package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"seckill/internal/httpapi"
)

func TestWhoMayReset(t *testing.T) {
	in := embedded(t)
	for i, c := range []struct {
		what, token, peer, host, header string
		allowed                         bool
	}{
		{"this machine", "", here, "127.0.0.1:8081", "", true},
		{"this machine, by name", "", here, "localhost:8081", "", true},
		{"this machine, IPv6", "", "[::1]:40000", "[::1]:8081", "", true},
		{"this machine, IPv4 in IPv6", "", "[::ffff:127.0.0.1]:40000", "127.0.0.1", "", true},
		{"another loopback address", "", "127.8.9.10:1", "127.0.0.1", "", true},
		{"another machine", "", elsewhere, "192.0.2.1:8081", "", false},
		{"another machine, IPv6", "", "[2001:db8::1]:40000", "[2001:db8::2]:8081", "", false},
		{"another machine that claims to be here", "", elsewhere, "192.0.2.1", "X-Forwarded-For: 127.0.0.1", false},
		{"another machine, other header", "", elsewhere, "192.0.2.1", "X-Real-Ip: 127.0.0.1", false},
		{"another machine, standard header", "", elsewhere, "192.0.2.1", "Forwarded: for=127.0.0.1", false},
		{"a browser here, led by a foreign name", "", here, "evil.example:8081", "", false},
		{"nobody knows who", "", "@", "127.0.0.1", "", false},
		{"this machine without the token", "s3cret", here, "127.0.0.1", "", false},
		{"this machine with the token", "s3cret", here, "127.0.0.1", "Authorization: Bearer s3cret", true},
		{"another machine with the token", "s3cret", elsewhere, "shop.example", "Authorization: Bearer s3cret", true},
		{"another machine with a wrong token", "s3cret", elsewhere, "shop.example", "Authorization: Bearer s3creT", false},
		{"the token with more after it", "s3cret", here, "127.0.0.1", "Authorization: Bearer s3cret2", false},
		{"the token by another scheme", "s3cret", here, "127.0.0.1", "Authorization: Basic s3cret", false},
		{"an empty token", "s3cret", here, "127.0.0.1", "Authorization: Bearer ", false},
		{"a token where none is needed", "", elsewhere, "192.0.2.1", "Authorization: Bearer x", false},
	} {
		s := serverWith(t, sells(), httpapi.Config{Instance: in, Token: c.token})
		sku := fmt.Sprintf("/api/v1/skus/%d", i+1)
		var headers []string
		if c.header != "" {
			headers = append(headers, c.header)
		}
		request := newRequest("PUT", sku, `{"stock":1}`, headers...)
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
