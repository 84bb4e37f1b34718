package labapi

import (
	"context"
	"crypto/sha256"
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
	service := strings.HasPrefix(r.URL.Path, "/api/v1/")
	if service && isBuyers(r) || !service && safe(r.Method) {
		return
	}
	given, _ := strings.CutPrefix(c.GetHeader("Authorization"), "Bearer ")
	if !same(given, s.Token) && !same(given, s.ServiceToken) {
		if s.Token != "" {
			c.Header("WWW-Authenticate", "Bearer")
			forbid(c, "That needs the lab's token, as “Authorization: Bearer TOKEN”.")
			return
		}
		if why := notFromHere(r); why != "" {
			forbid(c, "Only this machine may do that, and "+why+": start the lab with --token to allow others.")
			return
		}
	}
	if service {
		c.Request = r.WithContext(context.WithValue(r.Context(), adminMark{}, true))
	}
}

// adminMark is in the context of calls to the service processes that may carry
// their token.
type adminMark struct{}

// same compares in a time that tells nothing about either. An empty token is
// not anybody's.
func same(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && want != ""
}

// notFromHere says what shows that a request is not of this machine's own, or
// that it may not be; "" if nothing does. The socket's peer is not enough: all
// that a reverse proxy on this machine passes on comes from 127.0.0.1. Proxies
// tell by a header, by the Host of the site that they serve, or by HTTP/1.0,
// as nginx speaks when it is told nothing. One that forwards bytes (ssh -R)
// tells by nothing: who has that needs the token.
func notFromHere(r *http.Request) string {
	if !peer(r.RemoteAddr).IsLoopback() {
		return "this call comes from another one"
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Forwarded-") || name == "Forwarded" || name == "Via" || name == "X-Real-Ip" {
			return "this call comes through a proxy (" + name + ")"
		}
	}
	if !r.ProtoAtLeast(1, 1) {
		return "this call seems to come through a proxy (HTTP/1.0)"
	}
	name := hostname(r.Host)
	if ip, err := netip.ParseAddr(name); !strings.EqualFold(name, "localhost") && (err != nil || !ip.Unmap().IsLoopback()) {
		return "this call is addressed to " + name
	}
	return ""
}

// isBuyers: what buyers call of the service, and everybody may see. Whatever
// else there is, or will be, is the operator's.
func isBuyers(r *http.Request) bool {
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	is := func(path string) bool { return r.URL.Path == path || strings.HasPrefix(r.URL.Path, path+"/") }
	switch {
	case r.URL.Path == "/api/v1/seckill":
		return r.Method == http.MethodPost
	case r.URL.Path == "/api/v1/orders": // of all buyers they are not
		return read && r.URL.Query().Has("user_id")
	case is("/api/v1/orders"):
		return r.Method == http.MethodDelete
	default:
		return read && (is("/api/v1/strategies") || is("/api/v1/skus"))
	}
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
