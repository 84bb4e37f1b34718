package httpapi

import (
	"fmt"
	"net"

	"github.com/gin-gonic/gin"

	"seckill/internal/judge"
	"seckill/internal/web"
)

const adminMark = "seckill.admin"

// admin returns an error unless the operator makes the call. On the public listener every admin call needs
// the token. The caller's address proves nothing there, because calls through a reverse proxy on this machine
// have the address 127.0.0.1, too.
func (s *Server) admin(c *gin.Context) error {
	if s.isAdmin(c) {
		return nil
	}
	return forbidden(c, "This call needs the service's token, as “Authorization: Bearer TOKEN”, "+
		"or the admin listener (--admin-addr).")
}

func forbidden(c *gin.Context, detail string) error {
	c.Header("WWW-Authenticate", "Bearer")
	return newProblem(judge.ErrForbidden, detail)
}

func (s *Server) isAdmin(c *gin.Context) bool {
	return c.GetBool(adminMark) || web.SameToken(web.Bearer(c.Request), s.Token)
}

// asAdmin marks the requests of the admin listener as calls of the operator. A page of any web site can make a
// browser on this machine send requests to the admin listener, so asAdmin checks the headers Host and Origin.
func (s *Server) asAdmin(c *gin.Context) error {
	if why := web.NotLocal(c.Request); why != "" {
		return newProblem(judge.ErrForbidden, "The admin listener is for this machine alone, and "+why+".")
	}
	if page := web.ForeignPage(c.Request); page != "" {
		return newProblem(judge.ErrForbidden, page+" may not make admin calls.")
	}
	c.Set(adminMark, true)
	return nil
}

// CheckAdminAddr returns an error unless addr is a loopback address. The admin listener must have one,
// because its calls need no token.
func CheckAdminAddr(addr string) error {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return fmt.Errorf("%q is not an address to listen on, such as 127.0.0.1:9081: %w", addr, err)
	}
	if !tcp.IP.IsLoopback() {
		return fmt.Errorf("%s can be reached from other machines, and there admin calls need no token: "+
			"give an address of this machine alone, such as 127.0.0.1:9081", addr)
	}
	return nil
}
