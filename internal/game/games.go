package game

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

// MostGames are on at once. The one that has been idle for longest gives way to the
// next: its player can go on from the address.
const MostGames = 40

// Games keeps the games of one lab. Its methods may be called by several
// goroutines.
type Games struct {
	Servers    func() backend.Config
	Strategies []catalog.Info
	// Examples are the proof's counterexamples; nil: there are none.
	Examples fs.FS
	// Missing says why a strategy cannot run in the lab at all; nil: it can.
	Missing func(catalog.Info) []string
	Most    int          // games at once; 0: MostGames
	Log     *slog.Logger // nil: nothing is logged

	mu     sync.Mutex
	games  []*Game // the one that was used last comes last
	closed bool
	busy   sync.WaitGroup // games that are on, and replays
}

// A Request is for a game: of a level, or in free play.
type Request struct {
	Level     string `json:"level"`
	Strategy  string `json:"strategy"`
	Buyers    int    `json:"buyers"`
	Stock     int64  `json:"stock"`
	Processes int    `json:"processes"` // 1: the buyers share one; 0: each has their own
	Schedule  string `json:"schedule"`
}

// readSetting is what is asked for.
func (r Request) readSetting(all []catalog.Info) (info catalog.Info, s Setting, level *Level, err error) {
	if r.Level != "" {
		if level = LevelNamed(r.Level); level == nil {
			return info, s, nil, newProblem(http.StatusNotFound, "unknown_level", "There is no level %q: /api/lab/v1/levels lists them.", clipText(r.Level))
		}
		r.Strategy, s = level.Setting.Strategy, level.Setting
	}
	if r.Processes < 0 || r.Processes > 1 {
		return info, s, nil, newProblem(http.StatusBadRequest, "invalid", "processes is %d: give 1, which the buyers share, or 0: each has their own.", r.Processes)
	}
	for _, i := range all {
		if i.Name == r.Strategy {
			if s.Strategy == "" {
				s = Free(i, r.Buyers, r.Stock, r.Processes)
			}
			return i, s, level, s.Check()
		}
	}
	return info, s, nil, newProblem(http.StatusNotFound, "unknown_strategy", "There is no strategy %q: /api/v1/strategies lists them.", clipText(r.Strategy))
}

// Begin begins a game, and returns its name.
func (gs *Games) Begin(ctx context.Context, r Request) (id string, s State, err error) {
	info, setting, level, err := r.readSetting(gs.Strategies)
	if err != nil {
		return "", s, err
	}
	if err = gs.admit(info); err != nil {
		return "", s, err
	}
	g, err := Open(ctx, gs.Servers(), info, setting, level, r.Schedule)
	if err != nil {
		gs.busy.Done()
		return "", s, err
	}
	g.id = rand.Text()
	gs.addGame(g)
	return g.id, g.State(), nil
}

func (gs *Games) missingFor(info catalog.Info) []string {
	if gs.Missing != nil {
		if why := gs.Missing(info); why != nil {
			return why
		}
	}
	if why := Missing(gs.Servers(), info); why != "" {
		return []string{why}
	}
	return nil
}

// admit is called before a game of a strategy begins, or a replay. Close waits for its end.
func (gs *Games) admit(info catalog.Info) error {
	if why := gs.missingFor(info); why != nil {
		return newProblem(http.StatusServiceUnavailable, "strategy_unavailable", "%s cannot be played here: %s.", info.Name, why[0])
	}
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if gs.closed {
		return LabCloses
	}
	gs.busy.Add(1)
	return nil
}

// addGame takes a game that has begun. One gives way if there are too many, and it does
// itself if all have been ended meanwhile.
func (gs *Games) addGame(g *Game) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if gs.closed {
		go gs.closeGame(g)
		return
	}
	gs.games = append(gs.games, g)
	if len(gs.games) > cmp.Or(gs.Most, MostGames) {
		go gs.closeGame(gs.removeGame(gs.games[0].id)) // the next player does not wait for it; Close does
	}
}

// removeGame removes a game from the list; nil: there is none of this name. The caller holds
// mu.
func (gs *Games) removeGame(id string) (g *Game) {
	if i := slices.IndexFunc(gs.games, func(g *Game) bool { return g.id == id }); i >= 0 {
		g = gs.games[i]
		gs.games = slices.Delete(gs.games, i, i+1)
	}
	return g
}

// Game is the game of this name, which is not idle now.
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

// End ends a game.
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
		gs.Log.Warn("a game left something behind", "error", err)
	}
}

// Close ends all games; none begins any more. It waits until they have ended, or
// ctx has.
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

// Levels lists all levels, as the page shows them.
func (gs *Games) Levels() []Level {
	list := []Level{}
	for _, t := range Levels() {
		l := *t
		for _, info := range gs.Strategies {
			if info.Name == t.Setting.Strategy {
				l.Missing = gs.missingFor(info)
			}
		}
		l.Available = l.Missing == nil
		list = append(list, l)
	}
	return list
}
