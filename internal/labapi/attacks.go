package labapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/internal/web"
)

// Attacks are the explorer's, on code that a player of Defend has chosen.

func (s *Server) listDefences(c *gin.Context) error {
	hall, err := s.hall()
	if err != nil {
		return err
	}
	list, err := hall.Defences()
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, gin.H{"defences": list})
	return nil
}

func (s *Server) beginAttack(c *gin.Context) error {
	hall, err := s.hall()
	if err != nil {
		return err
	}
	var defence, choice string
	if err := web.ReadJSON(c.Writer, c.Request, web.Field{Name: "defence", Into: &defence, Required: true},
		web.Field{Name: "choice", Into: &choice, Required: true}); err != nil {
		return err
	}
	attack, err := hall.Attack(defence, choice)
	if err != nil {
		return s.ofGame(err)
	}
	c.JSON(http.StatusAccepted, attack)
	return nil
}

func (s *Server) showAttack(c *gin.Context) error {
	hall, err := s.hall()
	if err != nil {
		return err
	}
	attack, err := hall.AttackState(c.Param("id"))
	if err != nil {
		return s.ofGame(err)
	}
	c.JSON(http.StatusOK, attack)
	return nil
}

func (s *Server) stopAttack(c *gin.Context) error {
	hall, err := s.hall()
	if err != nil {
		return err
	}
	if err := hall.StopAttack(c.Param("id")); err != nil {
		return s.ofGame(err)
	}
	c.Status(http.StatusNoContent)
	return nil
}
