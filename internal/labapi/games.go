package labapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/internal/game"
	"seckill/internal/web"
)

// Games run beside whatever else the lab does: they have databases of their own,
// and no figure is read from them.
func (s *Server) routeGames(lab gin.IRoutes) {
	lab.GET("/levels", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"levels": s.Games.Levels()}) })
	lab.POST("/replays", s.handlerOf(s.replayGame))
	lab.POST("/games", s.handlerOf(s.beginGame))
	lab.DELETE("/games/:id", s.handlerOf(s.endGame))
	type nothing struct{}
	lab.GET("/games/:id", inGame(s, nothing{}, func(_ context.Context, g *game.Game, _ nothing) (game.State, error) { return g.State(), nil }))
	lab.POST("/games/:id/impossible", inGame(s, nothing{}, func(_ context.Context, g *game.Game, _ nothing) (game.State, error) { return g.SayImpossible() }))
	type move struct {
		Move string `json:"move"`
	}
	lab.POST("/games/:id/moves", inGame(s, move{}, func(ctx context.Context, g *game.Game, m move) (game.State, error) { return g.Move(ctx, m.Move) }))
	type undo struct {
		Moves int `json:"moves"`
	}
	lab.POST("/games/:id/undo", inGame(s, undo{1}, func(ctx context.Context, g *game.Game, u undo) (game.State, error) { return g.Undo(ctx, u.Moves) }))
}

// inGame answers a call about a game with its state. body is what the call's says when it
// leaves everything out.
func inGame[Body any](s *Server, body Body, call func(context.Context, *game.Game, Body) (game.State, error)) gin.HandlerFunc {
	return s.handlerOf(func(c *gin.Context) error {
		given := body
		g, err := s.Games.Game(c.Param("id"))
		if err == nil && !web.IsSafe(c.Request.Method) {
			err = web.ReadJSON(c.Writer, c.Request, &given)
		}
		if err != nil {
			return s.ofGame(err)
		}
		state, err := call(c.Request.Context(), g, given)
		if err == nil {
			c.JSON(http.StatusOK, state)
		}
		return s.ofGame(err)
	})
}

// ofGame is a game's error, as an answer: what is no refusal, the servers have failed to do.
func (s *Server) ofGame(err error) error {
	var p *web.Problem
	if err == nil || errors.As(err, &p) {
		return err
	}
	s.Log.Warn("game", "error", err)
	return &web.Problem{Code: "game_failed", Status: http.StatusServiceUnavailable,
		Detail: "The servers did not do what the move asked for. Undo the last move, or begin the game again by its schedule. The log of the lab says why."}
}

func (s *Server) beginGame(c *gin.Context) error {
	r := game.Request{Buyers: 2, Stock: 2}
	if err := web.ReadJSON(c.Writer, c.Request, &r); err != nil {
		return err
	}
	if (r.Level == "") == (r.Strategy == "") {
		return web.BadRequest("Give a level or a strategy: one of them.")
	}
	_, state, err := s.Games.Begin(c.Request.Context(), r)
	if err == nil {
		c.JSON(http.StatusCreated, state)
	}
	return s.ofGame(err)
}

// replayGame runs a kept counterexample again, on the lab's servers.
func (s *Server) replayGame(c *gin.Context) error {
	var body struct {
		Example string `json:"example"`
	}
	if err := web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return err
	}
	now, err := s.Games.Replay(c.Request.Context(), body.Example)
	if err == nil {
		c.JSON(http.StatusOK, now)
	}
	return s.ofGame(err)
}

func (s *Server) endGame(c *gin.Context) error {
	if err := s.Games.End(c.Param("id")); err != nil {
		return s.ofGame(err)
	}
	c.Status(http.StatusNoContent)
	return nil
}
