package labapi

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/internal/game"
	"seckill/internal/web"
)

// Games run beside whatever else the lab does: they have databases of their own,
// and no figure is read from them.
func (s *Server) routeGames(lab gin.IRoutes) {
	lab.GET("/levels", s.handle(s.listLevels))
	lab.GET("/levels/solutions", s.listSolutions)
	lab.POST("/replays", s.handle(s.replay))
	lab.POST("/games", s.handle(s.beginGame))
	lab.GET("/games/:id", s.handle(s.showGame))
	lab.DELETE("/games/:id", s.handle(s.endGame))
	lab.POST("/games/:id/moves", s.handle(s.moveInGame))
	lab.POST("/games/:id/undo", s.handle(s.undoInGame))
	lab.POST("/games/:id/impossible", s.handle(s.sayImpossible))
}

// statuses of mistakes; 409 for those that are not here.
var statuses = map[string]int{
	game.Invalid: http.StatusBadRequest, game.BadSchedule: http.StatusBadRequest,
	game.UnknownGame: http.StatusNotFound, game.UnknownLevel: http.StatusNotFound, game.UnknownStrategy: http.StatusNotFound,
	game.UnknownExample: http.StatusNotFound, game.NotReplayable: http.StatusBadRequest,
	game.TooManyGames: http.StatusTooManyRequests, game.StrategyUnavailable: http.StatusServiceUnavailable,
}

// tooMany is after how many seconds to ask again when there are too many games.
const tooMany = 30

// ofGame turns a game's error into an answer.
func (s *Server) ofGame(err error) error {
	var m *game.Mistake
	if !errors.As(err, &m) {
		s.Log.Warn("game", "error", err)
		return &web.Problem{Code: "game_failed", Status: http.StatusServiceUnavailable,
			Detail: "The servers did not do what the move asked for. Undo the last move, or begin the game again by its schedule. The log of the lab says why."}
	}
	p := &web.Problem{Code: m.Code, Status: statuses[m.Code], Detail: m.Detail}
	if p.Status == 0 {
		p.Status = http.StatusConflict
	}
	if m.Code == game.TooManyGames {
		p.RetryAfter = tooMany
	}
	return p
}

// answer writes a game's state, or why there is none.
func (s *Server) answer(c *gin.Context, status int, state game.State, err error) error {
	if err != nil {
		return s.ofGame(err)
	}
	c.JSON(status, state)
	return nil
}

func (s *Server) hall() (*game.Hall, error) {
	if s.Games == nil {
		return nil, &web.Problem{Code: game.StrategyUnavailable, Status: http.StatusServiceUnavailable, Detail: "This lab has no games."}
	}
	return s.Games, nil
}

func (s *Server) listLevels(c *gin.Context) error {
	hall, err := s.hall()
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, gin.H{"levels": hall.Levels()})
	return nil
}

// A solution of a level, for a teacher's sheet.
type solution struct {
	Impossible bool   `json:"impossible"`
	Schedule   string `json:"schedule"` // "" if none does it
	Moves      int    `json:"moves"`
	Switches   int    `json:"switches"`
}

func (s *Server) listSolutions(c *gin.Context) {
	all := map[string]solution{}
	for _, t := range game.Tasks() {
		all[t.Name] = solution{t.Impossible > 0, t.Solution, t.Moves, t.Switches}
	}
	c.JSON(http.StatusOK, gin.H{"solutions": all})
}

func (s *Server) beginGame(c *gin.Context) error {
	hall, err := s.hall()
	if err != nil {
		return err
	}
	r := game.Request{Buyers: 2, Stock: 2}
	if err := web.ReadJSON(c.Writer, c.Request, &r); err != nil {
		return err
	}
	if err := cmp.Or(web.Within("buyers", int64(r.Buyers), 2, 3), web.Within("stock", r.Stock, 1, 100),
		web.Within("processes", int64(r.Processes), 0, 1)); err != nil {
		return err
	}
	given := 0
	for _, one := range []string{r.Level, r.Strategy, r.Counterexample} {
		if one != "" {
			given++
		}
	}
	if given != 1 {
		return web.BadRequest("Give a level, a strategy or a counterexample: one of them.")
	}
	_, state, err := hall.Begin(c.Request.Context(), r)
	return s.answer(c, http.StatusCreated, state, err)
}

// replay runs a kept counterexample again, on the lab's servers.
func (s *Server) replay(c *gin.Context) error {
	hall, err := s.hall()
	if err != nil {
		return err
	}
	var body struct {
		Example string `json:"example"`
	}
	if err := web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return err
	}
	if body.Example == "" {
		return web.Invalid("example", "missing", nil, "is missing")
	}
	err = fs.ErrNotExist
	var text fs.File
	if s.Guarantees != nil {
		text, err = s.Guarantees.Open(body.Example + ".json")
	}
	if err != nil {
		return &web.Problem{Code: "unknown_example", Status: http.StatusNotFound,
			Detail: "There is no such counterexample: /guarantees/matrix.json names them, as STRATEGY.QUESTION."}
	}
	defer text.Close()
	now, err := hall.Replay(c.Request.Context(), text)
	if err != nil {
		return s.ofGame(err)
	}
	c.JSON(http.StatusOK, now)
	return nil
}

func (s *Server) showGame(c *gin.Context) error {
	hall, err := s.hall()
	if err != nil {
		return err
	}
	state, err := hall.State(c.Param("id"))
	return s.answer(c, http.StatusOK, state, err)
}

func (s *Server) endGame(c *gin.Context) error {
	hall, err := s.hall()
	if err != nil {
		return err
	}
	if err := hall.End(c.Param("id")); err != nil {
		return s.ofGame(err)
	}
	c.Status(http.StatusNoContent)
	return nil
}

func (s *Server) moveInGame(c *gin.Context) error {
	hall, err := s.hall()
	if err != nil {
		return err
	}
	body := struct {
		Move  string `json:"move"`
		After int    `json:"after"` // moves; none: however many there are
	}{After: -1}
	if err := web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return err
	}
	if err := web.Within("after", int64(body.After), -1, 1000); err != nil {
		return err
	}
	if body.Move == "" {
		return web.Invalid("move", "missing", nil, "is missing")
	}
	state, err := hall.Move(c.Request.Context(), c.Param("id"), body.Move, body.After)
	return s.answer(c, http.StatusOK, state, err)
}

func (s *Server) undoInGame(c *gin.Context) error {
	hall, err := s.hall()
	if err != nil {
		return err
	}
	body := struct {
		Moves int `json:"moves"`
	}{1}
	if err := web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return err
	}
	if err := web.Within("moves", int64(body.Moves), 1, 1000); err != nil {
		return err
	}
	state, err := hall.Undo(c.Request.Context(), c.Param("id"), body.Moves)
	return s.answer(c, http.StatusOK, state, err)
}

func (s *Server) sayImpossible(c *gin.Context) error {
	hall, err := s.hall()
	if err != nil {
		return err
	}
	if err := web.ReadJSON(c.Writer, c.Request, &struct{}{}); err != nil {
		return err
	}
	state, err := hall.SayImpossible(c.Param("id"))
	return s.answer(c, http.StatusOK, state, err)
}
