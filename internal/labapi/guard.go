package labapi

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/gin-gonic/gin"

	"seckill/internal/web"
)

// contentPolicy allows the page to load only its own files, and data: URLs, which the image of a trace needs.
const contentPolicy = "default-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"

func setHeaders(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// checkHost refuses requests whose header Host is not a name of this server. A foreign web site can make its own name
// resolve to 127.0.0.1. For the browser, the site's page and this server would then have the same origin, and the page
// could call this server (DNS rebinding).
func (s *Server) checkHost(c *gin.Context) error {
	if name := web.Hostname(c.Request.Host); !s.isOurName(name, c.Request) {
		return forbiddenProblem("This lab does not answer to the name “" + name +
			"”. Open it by the address it printed at its start.")
	}
	return nil
}

// isOurName reports whether name is this machine, the listener's address, or the local address of
// the request's connection.
func (s *Server) isOurName(name string, r *http.Request) bool {
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

// checkOrigin refuses calls by which a page of another site would change something.
func checkOrigin(c *gin.Context) error {
	if page := web.ForeignPage(c.Request); page != "" && !web.IsSafe(c.Request.Method) {
		return forbiddenProblem(page + " may not drive this lab.")
	}
	return nil
}

// checkAdmin refuses calls that change something in the lab, unless the operator makes them. Calls to the service
// always pass, because the service checks them itself. All calls through the proxy come from this machine, so the
// service cannot recognize the operator. Therefore the proxy adds the service's token to the operator's calls only.
func (s *Server) checkAdmin(c *gin.Context) error {
	r := c.Request
	why := s.whyNotOperator(r)
	if why == "" || web.IsSafe(r.Method) || strings.HasPrefix(r.URL.Path, "/api/v1/") {
		return nil
	}
	if s.Token != "" {
		c.Header("WWW-Authenticate", "Bearer")
	}
	return forbiddenProblem(why)
}

// whyNotOperator returns "" if a request comes from the operator. Otherwise it returns why the request is refused.
func (s *Server) whyNotOperator(r *http.Request) string {
	given := web.Bearer(r)
	switch why := web.NotLocal(r); {
	case web.SameToken(given, s.Token), web.SameToken(given, s.ServiceToken):
	case s.Token != "":
		return "That needs the lab's token, as “Authorization: Bearer TOKEN”."
	case why != "":
		return "Only this machine may do that, and " + why + ": start the lab with --token to allow others."
	}
	return ""
}

func forbiddenProblem(detail string) *web.Problem {
	return &web.Problem{Code: "forbidden", Status: http.StatusForbidden, Detail: detail}
}
