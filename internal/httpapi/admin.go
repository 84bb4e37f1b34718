package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strings"

	"github.com/gin-gonic/gin"
)

// An AdminRoute is an admin call that this package does not know by itself.
// Its path is one of gin's. What Handle returns is answered like any other
// error.
type AdminRoute struct {
	Method, Path string
	Handle       func(*gin.Context) error
}

// adminMark is set in the context of requests to the admin listener.
const adminMark = "seckill.admin"

// admin lets a call pass that only the operator may make. On the public
// listener it needs the token wherever it comes from: behind a reverse proxy
// on this machine, the whole internet comes from 127.0.0.1.
func (s *Server) admin(c *gin.Context) error {
	if s.isAdmin(c) {
		return nil
	}
	c.Header("WWW-Authenticate", "Bearer")
	return refused(errForbidden, "This needs the service's token, as “Authorization: Bearer TOKEN”, or its admin listener (--admin-addr).")
}

func (s *Server) isAdmin(c *gin.Context) bool {
	return c.GetBool(adminMark) || s.Token != "" && same(bearer(c), s.Token)
}

// bearer is the token of the Authorization header, or "". The scheme's case
// does not matter (RFC 9110).
func bearer(c *gin.Context) string {
	given := c.Request.Header["Authorization"]
	if len(given) != 1 { // two: who is on the way may have read the other
		return ""
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimLeft(token, " ")
}

// same compares in a time that tells nothing about either, nor its length.
func same(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// guarded asks for the token before h.
func (s *Server) guarded(h func(*gin.Context) error) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		if err := s.admin(c); err != nil {
			return err
		}
		return h(c)
	})
}

// routeAdmin adds the calls that are the operator's alone.
func (s *Server) routeAdmin(r *gin.Engine) {
	r.GET("/debug/pprof/*name", s.guarded(profile))
	for _, route := range s.AdminRoutes {
		r.Handle(route.Method, route.Path, s.guarded(route.Handle))
	}
}

func profile(c *gin.Context) error {
	serve := pprof.Index // of named profiles, too
	switch c.Param("name") {
	case "/cmdline":
		serve = pprof.Cmdline
	case "/profile":
		serve = pprof.Profile
	case "/symbol":
		serve = pprof.Symbol
	case "/trace":
		serve = pprof.Trace
	}
	serve(c.Writer, c.Request)
	return nil
}

// asAdmin marks requests of the admin listener. A browser on this machine can
// be led there by any web site, so its Host and what fetched it are checked; a
// Unix socket is out of a browser's reach.
func (s *Server) asAdmin(c *gin.Context) error {
	local, _ := c.Request.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil || local.Network() != "unix" {
		if err := fromHere(c.Request); err != nil {
			return err
		}
	}
	c.Set(adminMark, true)
	return nil
}

func fromHere(r *http.Request) error {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() {
		return refused(errForbidden, "The admin listener is for this machine alone.")
	}
	// A web site can point its own name at 127.0.0.1 and let a browser on this
	// machine call us (DNS rebinding); it cannot do that with an address.
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if !strings.EqualFold(host, "localhost") && (err != nil || !ip.Unmap().IsLoopback()) {
		return refused(errForbidden, "The admin listener answers to 127.0.0.1, ::1 and localhost alone.")
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return refused(errForbidden, "A page of "+origin+" may not make admin calls.")
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return refused(errForbidden, "Another site's page may not make admin calls.")
	}
	if by := forwardedBy(r.Header); by != "" {
		return refused(errForbidden, "The admin listener takes nothing from a proxy, and this request has the header "+by+".")
	}
	return nil
}

// forwardedBy is a header that only proxies add, or "".
func forwardedBy(h http.Header) string {
	for name := range h {
		switch {
		case strings.HasPrefix(name, "X-Forwarded-"):
			return name
		case name == "Forwarded" || name == "Via" || name == "X-Real-Ip":
			return name
		}
	}
	return ""
}
