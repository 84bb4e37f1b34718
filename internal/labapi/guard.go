package labapi

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"path"
	"strings"

	"github.com/gin-gonic/gin"
)

// The page needs nothing but its own files: no inline script or style, no
// other host.
const policy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"

func headers(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// checkHost refuses requests that were addressed to another name: a foreign
// web site can point its own name at 127.0.0.1 and would then count as the
// same origin as this page (DNS rebinding).
func (s *Server) checkHost(c *gin.Context) {
	if name := hostname(c.Request.Host); !s.isOurs(name, c.Request) {
		forbid(c, "This lab does not answer to the name “"+name+"”. Open it by the address it printed at its start.")
	}
}

func (s *Server) isOurs(name string, r *http.Request) bool {
	if strings.EqualFold(name, "localhost") || name != "" && strings.EqualFold(name, hostname(s.Addr)) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ip.IsLoopback() || local != nil && peer(local.String()) == ip.Unmap()
}

// checkOrigin refuses calls with an effect that another site's page makes.
// Programs send no Origin.
func checkOrigin(c *gin.Context) {
	origin := c.GetHeader("Origin")
	if safe(c.Request.Method) || origin == "" {
		return
	}
	if host := strings.TrimPrefix(strings.TrimPrefix(origin, "http://"), "https://"); host != c.Request.Host {
		forbid(c, "A page of "+origin+" may not drive this lab.")
	}
}

// checkAdmin protects whatever is neither reading nor what buyers do. The
// service processes cannot: to them every caller looks like this process.
func (s *Server) checkAdmin(c *gin.Context) {
	r := c.Request
	if path.Clean(r.URL.Path) != strings.TrimSuffix(r.URL.Path, "/") && r.URL.Path != "/" {
		refuse(c, problem{Code: "invalid", Status: http.StatusBadRequest, Detail: "The path has empty or dotted parts."})
		return
	}
	if safe(r.Method) || isBuyers(r) {
		return
	}
	if s.Token == "" {
		if !peer(r.RemoteAddr).IsLoopback() {
			forbid(c, "Only this machine may do that: start the lab with --token to allow others.")
		}
		return
	}
	given, _ := strings.CutPrefix(c.GetHeader("Authorization"), "Bearer ")
	if subtle.ConstantTimeCompare([]byte(given), []byte(s.Token)) != 1 {
		c.Header("WWW-Authenticate", "Bearer")
		forbid(c, "That needs the lab's token, as “Authorization: Bearer TOKEN”.")
	}
}

func isBuyers(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == "/api/v1/seckill" ||
		r.Method == http.MethodDelete && strings.HasPrefix(r.URL.Path, "/api/v1/orders/")
}

func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

func forbid(c *gin.Context, detail string) {
	refuse(c, problem{Code: "forbidden", Status: http.StatusForbidden, Detail: detail})
}

// peer is the address of a socket's end. Whatever a header says about it is
// hearsay.
func peer(hostport string) netip.Addr {
	ap, err := netip.ParseAddrPort(hostport)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// hostname is host or host:port without the port and the brackets.
func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}
