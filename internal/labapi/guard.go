package labapi

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"path"
	"strings"

	"github.com/gin-gonic/gin"

	"seckill/internal/web"
)

// The page needs nothing but its own files: no inline script or style, no
// other host. data: is for the share of a trace.
const policy = "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"

func headers(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// checkHost refuses requests addressed to another name: a foreign web site can
// point its own name at 127.0.0.1 and would then count as the same origin as
// this page (DNS rebinding).
func (s *Server) checkHost(c *gin.Context) error {
	if name := web.Hostname(c.Request.Host); !s.isOurs(name, c.Request) {
		return forbidden("This lab does not answer to the name “" + name + "”. Open it by the address it printed at its start.")
	}
	return nil
}

func (s *Server) isOurs(name string, r *http.Request) bool {
	if strings.EqualFold(name, "localhost") || name != "" && strings.EqualFold(name, web.Hostname(s.Addr)) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ip.IsLoopback() || local != nil && web.Peer(local.String()) == ip.Unmap()
}

// checkOrigin refuses calls with an effect that another site's page makes.
func checkOrigin(c *gin.Context) error {
	if page := web.ForeignPage(c.Request); page != "" && !web.IsSafe(c.Request.Method) {
		return forbidden(page + " may not drive this lab.")
	}
	return nil
}

// checkAdmin protects what changes anything and is not a buyer's call. The
// service processes cannot: to them, every call comes from this process.
func (s *Server) checkAdmin(c *gin.Context) error {
	r := c.Request
	if path.Clean(r.URL.Path) != strings.TrimSuffix(r.URL.Path, "/") && r.URL.Path != "/" {
		return web.BadRequest("The path has empty or dotted parts.")
	}
	service := strings.HasPrefix(r.URL.Path, "/api/v1/")
	if service && isBuyers(r) || !service && web.IsSafe(r.Method) {
		return nil
	}
	given := web.Bearer(r)
	if !web.SameToken(given, s.Token) && !web.SameToken(given, s.ServiceToken) {
		if s.Token != "" {
			c.Header("WWW-Authenticate", "Bearer")
			return forbidden("That needs the lab's token, as “Authorization: Bearer TOKEN”.")
		}
		if why := web.NotLocal(r); why != "" {
			return forbidden("Only this machine may do that, and " + why + ": start the lab with --token to allow others.")
		}
	}
	if service {
		c.Request = r.WithContext(context.WithValue(r.Context(), adminMark{}, true))
	}
	return nil
}

func forbidden(detail string) *web.Problem {
	return &web.Problem{Code: "forbidden", Status: http.StatusForbidden, Detail: detail}
}

// adminMark is in the context of calls that may carry the service processes'
// token.
type adminMark struct{}

// isBuyers reports whether a call to the service is open to buyers. All other
// calls, also future ones, are the operator's.
func isBuyers(r *http.Request) bool {
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	is := func(path string) bool { return r.URL.Path == path || strings.HasPrefix(r.URL.Path, path+"/") }
	switch {
	case r.URL.Path == "/api/v1/seckill":
		return r.Method == http.MethodPost
	case r.URL.Path == "/api/v1/orders": // of all buyers they are not
		return read && r.URL.Query().Has("user_id")
	case is("/api/v1/reservations"):
		return read || r.Method == http.MethodPost || r.Method == http.MethodDelete
	case is("/api/v1/orders"):
		return r.Method == http.MethodDelete
	default:
		return read && (is("/api/v1/strategies") || is("/api/v1/skus"))
	}
}
