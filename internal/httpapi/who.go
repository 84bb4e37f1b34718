package httpapi

import (
	"errors"
	"log/slog"

	"github.com/gin-gonic/gin"

	"seckill/internal/auth"
	"seckill/internal/seckill"
)

// A caller is who a request is known to come from.
type caller struct {
	admin  bool
	anyone bool  // buyers are not authenticated
	user   int64 // of a token
}

// caller is the operator, or the buyer of the token that came with the
// request.
func (s *Server) caller(c *gin.Context) (caller, error) {
	if s.isAdmin(c) {
		return caller{admin: true}, nil
	}
	user, err := s.buyer(c)
	return caller{anyone: s.Buyers == nil, user: user}, err
}

// buyer is the user of the request's token; 0 when buyers are not
// authenticated.
func (s *Server) buyer(c *gin.Context) (int64, error) {
	if s.Buyers == nil {
		return 0, nil
	}
	token := bearer(c)
	if token == "" {
		c.Header("WWW-Authenticate", `Bearer realm="seckill"`)
		return 0, refused(errUnauthenticated, "This needs the buyer's token, as “Authorization: Bearer JWT”, with the user_id as its sub.")
	}
	user, err := s.Buyers.User(c.Request.Context(), token)
	switch {
	case errors.Is(err, auth.ErrKeys):
		s.log(c, slog.LevelWarn, "a buyer's token cannot be checked", "error", err)
		return 0, refused(seckill.ErrUnavailable, "The keys that tokens are checked with cannot be read now. Nothing was taken: try again.")
	case err != nil:
		c.Header("WWW-Authenticate", `Bearer realm="seckill", error="invalid_token"`)
		return 0, refused(errUnauthenticated, "The buyer's token is refused: "+err.Error()+".")
	}
	return user, nil
}

// owns: what is a buyer's is for that buyer, and for the operator.
func (w caller) owns(user int64) error {
	if w.admin || w.anyone || w.user == user {
		return nil
	}
	return refused(errForbidden, "The token is another user's.")
}

// mayBuy: a purchase is the buyer's own word. The operator's is not.
func (s *Server) mayBuy(c *gin.Context, user int64) error {
	who, err := s.buyer(c)
	if err != nil {
		return err
	}
	return caller{anyone: s.Buyers == nil, user: who}.owns(user)
}

// mayList: the orders of one buyer are that buyer's; those of all buyers are
// the operator's. user is 0 when the call names none.
func (s *Server) mayList(c *gin.Context, user int64) error {
	if user == 0 && !s.isAdmin(c) {
		c.Header("WWW-Authenticate", "Bearer")
		return refused(errForbidden, "Orders of all buyers need the service's token, as “Authorization: Bearer TOKEN”. Name a user_id to see that buyer's.")
	}
	who, err := s.caller(c)
	if err != nil {
		return err
	}
	return who.owns(user)
}
