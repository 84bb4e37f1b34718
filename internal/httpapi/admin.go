package httpapi

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/gin-gonic/gin"
)

// admin lets a call pass that changes what buyers find. With a token it must
// have that token, wherever it comes from; without one it must come from this
// machine, by its socket: forwarding headers say what their sender likes. (So
// behind a proxy on this machine a token is needed.)
func (s *Server) admin(c *gin.Context) error {
	if s.Token != "" {
		given, _ := strings.CutPrefix(c.GetHeader("Authorization"), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(given), []byte(s.Token)) != 1 {
			c.Header("WWW-Authenticate", "Bearer")
			return refused(errForbidden, "This needs the service's token, as “Authorization: Bearer TOKEN”.")
		}
		return nil
	}
	if !fromHere(c.Request) {
		return refused(errForbidden,
			"Only this machine may do that. Start the service with --token to let others do it.")
	}
	return nil
}

func fromHere(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() {
		return false
	}
	// A web site can point its own name at 127.0.0.1 and let a browser on this
	// machine call us; it cannot do that with an address.
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err = netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || strings.EqualFold(host, "localhost")
}
