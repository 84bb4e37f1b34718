package game

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
)

// DefaultMaxGames is the maximum number of games in a lab. When another game begins, the least recently used game is
// ended. Its player can start it again from the page's address, which contains the schedule.
const DefaultMaxGames = 40

// Games keeps the games of one lab. Its methods are safe for concurrent use.
type Games struct {
	Servers    func() backend.Config
	Strategies []catalog.Info
	Examples   fs.FS // the counterexamples of the proof; nil if there are none
	// Missing returns the reasons why a strategy cannot run in the lab at all; nil if it can.
	Missing  func(catalog.Info) []string
	MaxGames int          // 0 stands for DefaultMaxGames
	Log      *slog.Logger // if nil, nothing is logged

	mu     sync.Mutex
	games  []*Game // ordered by their last use, the most recent last
	closed bool
	busy   sync.WaitGroup // counts the games and replays that have not ended
}

// A Request asks for a new game, either of a level or in free play.
type Request struct {
	Level     string `json:"level"`
	Strategy  string `json:"strategy"`
	Buyers    int    `json:"buyers"`
	Stock     int64  `json:"stock"`
	Processes int    `json:"processes"` // 1 or 0; see FreePlay
	Schedule  string `json:"schedule"`
}

// readSetting returns the strategy, the setting and the level that r asks for. In free play, the level is nil.
func (gs *Games) readSetting(r Request) (info catalog.Info, s Setting, level *Level, err error) {
	if r.Level != "" {
		if level = LevelNamed(r.Level); level == nil {
			return info, s, nil, newProblem(http.StatusNotFound, "unknown_level",
				"There is no level %.60q: /api/lab/v1/levels lists them.", r.Level)
		}
		r.Strategy, s = level.Setting.Strategy, level.Setting
	}
	if info, err = gs.findStrategy(r.Strategy); err != nil || level != nil {
		return info, s, level, err
	}
	if err = r.checkFreePlay(); err == nil {
		s = FreePlay(info, r.Buyers, r.Stock, r.Processes)
	}
	return info, s, nil, err
}

// findStrategy returns the strategy with this name. The error is a *web.Problem.
func (gs *Games) findStrategy(name string) (catalog.Info, error) {
	for _, info := range gs.Strategies {
		if info.Name == name {
			return info, nil
		}
	}
	return catalog.Info{}, newProblem(http.StatusNotFound, "unknown_strategy",
		"There is no strategy %.60q: /api/v1/strategies lists them.", name)
}

// Begin starts a game and returns its first state.
func (gs *Games) Begin(ctx context.Context, r Request) (State, error) {
	info, setting, level, err := gs.readSetting(r)
	if err != nil {
		return State{}, err
	}
	if err = gs.reserveSlot(info); err != nil {
		return State{}, err
	}
	g, err := Open(ctx, gs.Servers(), info, setting, level, r.Schedule)
	if err != nil {
		gs.busy.Done()
		return State{}, err
	}
	g.id = rand.Text()
	gs.addGame(g)
	return g.State(), nil
}

func (gs *Games) missingFor(info catalog.Info) []string {
	why := gs.Missing(info)
	if unplayable := WhyUnplayable(gs.Servers(), info); why == nil && unplayable != "" {
		why = []string{unplayable}
	}
	return why
}

// reserveSlot checks that a game or replay of a strategy may begin. It then adds one to gs.busy, for which Close
// waits. When the game or replay ends, the caller or closeGame must call gs.busy.Done.
func (gs *Games) reserveSlot(info catalog.Info) error {
	if why := gs.missingFor(info); why != nil {
		return newProblem(http.StatusServiceUnavailable, "strategy_unavailable",
			"%s cannot be played here: %s.", info.Name, why[0])
	}
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if gs.closed {
		return LabCloses
	}
	gs.busy.Add(1)
	return nil
}

// addGame adds the game g, which has begun. If there are too many games now, the least recently used game is closed.
// If gs was closed meanwhile, g itself is closed.
func (gs *Games) addGame(g *Game) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if gs.closed {
		go gs.closeGame(g)
		return
	}
	gs.games = append(gs.games, g)
	if len(gs.games) > cmp.Or(gs.MaxGames, DefaultMaxGames) {
		go gs.closeGame(gs.removeGame(gs.games[0].id)) // close it in the background, so that g's player need not wait
	}
}

// removeGame removes the game with this ID from the list and returns it; nil if there is none. The caller holds mu.
func (gs *Games) removeGame(id string) *Game {
	i := slices.IndexFunc(gs.games, func(g *Game) bool { return g.id == id })
	if i < 0 {
		return nil
	}
	g := gs.games[i]
	gs.games = slices.Delete(gs.games, i, i+1)
	return g
}

// Game returns the game with this ID, and makes it the most recently used one.
func (gs *Games) Game(id string) (*Game, error) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	g := gs.removeGame(id)
	if g == nil {
		return nil, unknownGame
	}
	gs.games = append(gs.games, g)
	return g, nil
}

// End closes the game with this ID.
func (gs *Games) End(id string) error {
	gs.mu.Lock()
	g := gs.removeGame(id)
	gs.mu.Unlock()
	if g == nil {
		return unknownGame
	}
	gs.closeGame(g)
	return nil
}

func (gs *Games) closeGame(g *Game) {
	defer gs.busy.Done()
	if err := g.Close(context.Background()); err != nil && gs.Log != nil {
		gs.Log.Warn("a game could not be removed from the servers", "error", err)
	}
}

// Close closes all games and refuses new ones. It waits until all games and replays have ended, or until ctx ends.
func (gs *Games) Close(ctx context.Context) error {
	gs.mu.Lock()
	gs.closed = true
	for _, g := range gs.games {
		go gs.closeGame(g)
	}
	gs.games = nil
	gs.mu.Unlock()
	done := make(chan struct{})
	go func() {
		gs.busy.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New("a game did not end in time")
	}
}

// Levels returns all levels. Each level says whether it can be played here.
func (gs *Games) Levels() []Level {
	list := []Level{}
	for _, level := range Levels() {
		l := *level
		if info, err := gs.findStrategy(l.Setting.Strategy); err == nil {
			l.Missing = gs.missingFor(info)
		}
		l.Available = l.Missing == nil
		list = append(list, l)
	}
	return list
}

// readExample reads the counterexample with this name. The error is a *web.Problem.
func (gs *Games) readExample(name string) (Example, error) {
	if gs.Examples != nil {
		if text, err := fs.ReadFile(gs.Examples, name+".json"); err == nil {
			if e, err := ReadExample(bytes.NewReader(text)); err == nil {
				return e, nil
			}
		}
	}
	return Example{}, newProblem(http.StatusNotFound, "unknown_example", "There is no counterexample %.60q: "+
		"/api/lab/v1/guarantees/matrix.json names them, such as naive.oversell.", name)
}

// Replay runs the schedule of a counterexample of `seckill prove` on the lab's servers. It returns the example with
// the steps, answers and problems of this run. If an error is not a *web.Problem, it comes from the servers.
func (gs *Games) Replay(ctx context.Context, name string) (now Example, err error) {
	e, err := gs.readExample(name)
	if err != nil {
		return now, err
	}
	info, err := gs.findStrategy(e.Strategy)
	if err != nil {
		return now, err
	}
	if slices.Contains(e.Scenario.Faults, explore.NodeLost) {
		return now, newProblem(http.StatusBadRequest, "not_replayable", "A server is lost in this counterexample, and "+
			"the lab's servers are shared. seckill prove --replay starts servers of its own.")
	}
	if err := gs.reserveSlot(info); err != nil {
		return now, err
	}
	defer gs.busy.Done()
	ctx, cancel := context.WithTimeout(ctx, moveTimeout)
	defer cancel()
	d, err := openDatabase(ctx, gs.Servers(), info)
	if err != nil {
		return now, err
	}
	defer func() { err = errors.Join(err, d.close(ctx)) }()
	choices, err := ReadSchedule(e.Schedule)
	if err != nil {
		return now, err
	}
	schedule, err := d.world.Replay(ctx, &e.Scenario, choices)
	if errors.Is(err, explore.ErrDiverged) {
		return now, newProblem(http.StatusConflict, "diverged", "The counterexample does not fit any more: %v. "+
			"Compute it again: seckill prove --strategies %s --questions %s", err, e.Strategy, e.Question)
	}
	if err != nil {
		return now, fmt.Errorf("replay %s: %w", e.Strategy, err)
	}
	return NewExample(e.Strategy, e.Question, schedule), nil
}
