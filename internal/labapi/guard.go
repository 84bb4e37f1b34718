package labapi

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/gin-gonic/gin"

	"seckill/internal/web"
)

// The page needs nothing but its own files: no inline script or style, no
// other host. data: is for the share of a trace.
const policy = "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"

func setHeaders(c *gin.Context) {
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
		return forbiddenProblem("This lab does not answer to the name “" + name + "”. Open it by the address it printed at its start.")
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
		return forbiddenProblem(page + " may not drive this lab.")
	}
	return nil
}

// checkAdmin protects what changes anything in the lab. A call to the service may always
// pass. Only from an operator it carries the token of the service processes, which
// refuse others what is the operator's; by itself, every call comes from this process
// to them.
func (s *Server) checkAdmin(c *gin.Context) error {
	r := c.Request
	why := s.notOperator(r)
	switch {
	case strings.HasPrefix(r.URL.Path, "/api/v1/"):
		c.Set(operatorMark, why == "")
	case why != "" && !web.IsSafe(r.Method):
		if s.Token != "" {
			c.Header("WWW-Authenticate", "Bearer")
		}
		return forbiddenProblem(why)
	}
	return nil
}

// notOperator says why a request may be another's than the operator's; "" if it is theirs.
func (s *Server) notOperator(r *http.Request) string {
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

// operatorMark is of calls to the service: whether they may carry the service processes'
// token.
const operatorMark = "seckill.operator"
