package labapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/internal/game"
	"seckill/internal/web"
)

// routeGames adds the routes of the calls about games. A game does not need the labLock, because it has its own
// databases and measures no times that other work could distort.
func (s *Server) routeGames(lab gin.IRoutes) {
	lab.GET("/levels", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"levels": s.Games.Levels()}) })
	lab.POST("/replays", s.handlerOf(s.replayGame))
	lab.POST("/games", s.handlerOf(s.beginGame))
	lab.DELETE("/games/:id", s.handlerOf(s.endGame))
	type nothing struct{}
	lab.GET("/games/:id", gameHandler(s, nothing{},
		func(_ context.Context, g *game.Game, _ nothing) (game.State, error) { return g.State(), nil }))
	lab.POST("/games/:id/impossible", gameHandler(s, nothing{},
		func(_ context.Context, g *game.Game, _ nothing) (game.State, error) { return g.SayImpossible() }))
	type move struct {
		Move string `json:"move"`
	}
	lab.POST("/games/:id/moves", gameHandler(s, move{},
		func(ctx context.Context, g *game.Game, m move) (game.State, error) { return g.Move(ctx, m.Move) }))
	type undo struct {
		Moves int `json:"moves"`
	}
	lab.POST("/games/:id/undo", gameHandler(s, undo{1},
		func(ctx context.Context, g *game.Game, u undo) (game.State, error) { return g.Undo(ctx, u.Moves) }))
}

// gameHandler returns a handler that calls the function do and answers with the state of the game.
// The parameter defaults is the body for a call that omits every field.
func gameHandler[Body any](s *Server, defaults Body,
	do func(context.Context, *game.Game, Body) (game.State, error)) gin.HandlerFunc {
	return s.handlerOf(func(c *gin.Context) error {
		body := defaults
		g, err := s.Games.Game(c.Param("id"))
		if err == nil && !web.IsSafe(c.Request.Method) {
			err = web.ReadJSON(c.Writer, c.Request, &body)
		}
		if err != nil {
			return s.explainGameError(err)
		}
		state, err := do(c.Request.Context(), g, body)
		return answerJSON(c, http.StatusOK, state, s.explainGameError(err))
	})
}

// explainGameError returns err unchanged if it is a web.Problem. It turns any other error into a problem that says that
// the game's servers failed.
func (s *Server) explainGameError(err error) error {
	var p *web.Problem
	if err == nil || errors.As(err, &p) {
		return err
	}
	s.Log.Warn("game", "error", err)
	return &web.Problem{Code: "game_failed", Status: http.StatusServiceUnavailable,
		Detail: "The servers did not do what the move asked for. Undo the last move, or begin the game again by its " +
			"schedule. The log of the lab says why."}
}

func (s *Server) beginGame(c *gin.Context) error {
	r := game.Request{Buyers: 2, Stock: 2}
	if err := web.ReadJSON(c.Writer, c.Request, &r); err != nil {
		return err
	}
	if (r.Level == "") == (r.Strategy == "") {
		return web.BadRequest("Give a level or a strategy: one of them.")
	}
	state, err := s.Games.Begin(c.Request.Context(), r)
	return answerJSON(c, http.StatusCreated, state, s.explainGameError(err))
}

func (s *Server) replayGame(c *gin.Context) error {
	var body struct {
		Example string `json:"example"`
	}
	if err := web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return err
	}
	now, err := s.Games.Replay(c.Request.Context(), body.Example)
	return answerJSON(c, http.StatusOK, now, s.explainGameError(err))
}

func (s *Server) endGame(c *gin.Context) error {
	if err := s.Games.End(c.Param("id")); err != nil {
		return s.explainGameError(err)
	}
	c.Status(http.StatusNoContent)
	return nil
}
