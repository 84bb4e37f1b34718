package httpapi

import "github.com/gin-gonic/gin"

// mayList: the orders of one buyer are that buyer's; those of all buyers are
// the operator's. user is 0 when the call names none.
func (s *Server) mayList(c *gin.Context, user int64) error {
	if user == 0 && !s.isAdmin(c) {
		c.Header("WWW-Authenticate", "Bearer")
		return refused(errForbidden, "Orders of all buyers need the service's token, as “Authorization: Bearer TOKEN”. Name a user_id to see that buyer's.")
	}
	return nil
}
