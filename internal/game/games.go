package game

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
)

const (
	// MostGames are on at once.
	MostGames = 40
	// SpareLimit is how long a game must have been idle to give way to a new one when
	// the most games are on.
	SpareLimit = 3 * time.Minute
)

// Games keeps the games of one lab. Its methods may be called by several
// goroutines.
type Games struct {
	Servers    func() backend.Config
	Strategies []catalog.Info
	// Examples are the proof's counterexamples; nil: there are none.
	Examples fs.FS
	// Missing says why a strategy cannot run in the lab at all; nil: it can.
	Missing func(catalog.Info) []string
	Service explore.Service // for buyers in a replay who ask it; nil: such replays fail
	Most    int             // games at once; 0: MostGames
	Spare   time.Duration   // 0: SpareLimit
	Log     *slog.Logger    // nil: nothing is logged

	mu     sync.Mutex
	games  map[string]*kept
	closed bool
	ending sync.WaitGroup
}

// A kept game is on, or about to be: then it is nil.
type kept struct {
	*Game
	used time.Time // for the last time
}

// A Request is for a game: of a level, of a counterexample, or in free play.
type Request struct {
	Level     string `json:"level"`
	Strategy  string `json:"strategy"`
	Buyers    int    `json:"buyers"`
	Stock     int64  `json:"stock"`
	Processes int    `json:"processes"` // 1: the buyers share one; 0: each has their own
	Schedule  string `json:"schedule"`
	// Counterexample of the proof, by the name of its file. It brings its Line.
	Counterexample string `json:"counterexample"`
}

// setting is what is asked for.
func (r Request) setting(all []catalog.Info) (info catalog.Info, s Setting, task *Task, err error) {
	if r.Level != "" {
		if task = LevelNamed(r.Level); task == nil {
			return info, s, nil, &Mistake{UnknownLevel, fmt.Sprintf("There is no level %q: /api/lab/v1/levels lists them.", clip(r.Level))}
		}
		r.Strategy, s = task.Setting.Strategy, task.Setting
	}
	for _, i := range all {
		if i.Name == r.Strategy {
			if s.Strategy == "" {
				s = Free(i, r.Buyers, r.Stock, r.Processes)
			}
			return i, s, task, s.Check()
		}
	}
	return info, s, nil, &Mistake{UnknownStrategy, fmt.Sprintf("There is no strategy %q: /api/v1/strategies lists them.", clip(r.Strategy))}
}

// Begin begins a game, and returns its name.
func (gs *Games) Begin(ctx context.Context, r Request) (id string, s State, err error) {
	var example explore.Example
	if r.Counterexample != "" {
		if example, err = readExample(gs.Examples, r.Counterexample); err != nil {
			return "", s, err
		}
		r.Strategy, r.Buyers, r.Stock = example.Strategy, 2, 1
	}
	info, setting, task, err := r.setting(gs.Strategies)
	if err == nil && r.Counterexample != "" {
		setting, err = ofExample(example)
	}
	if err != nil {
		return "", s, err
	}
	moves, err := Read(r.Schedule)
	if err != nil {
		return "", s, err
	}
	if why := gs.missing(info); why != nil {
		return "", s, &Mistake{StrategyUnavailable, fmt.Sprintf("%s cannot be played here: %s.", info.Name, why[0])}
	}
	if id, err = gs.reserve(); err != nil {
		return "", s, err
	}
	g, err := open(ctx, gs.Servers(), info, setting, task, func(g *Game) error {
		if r.Counterexample != "" {
			return g.follow(ctx, example, moves)
		}
		return g.replay(ctx, moves)
	})
	if err != nil {
		gs.free(id)
		return "", s, err
	}
	g.id = id
	gs.keep(g)
	return id, g.State(), nil
}

func (gs *Games) missing(info catalog.Info) []string {
	if gs.Missing != nil {
		if why := gs.Missing(info); why != nil {
			return why
		}
	}
	return Missing(gs.Servers(), info)
}

// reserve takes a place for a game that is about to begin. When the most are on, the
// game that has been idle for longest gives way: its player can go on from the address.
func (gs *Games) reserve() (id string, err error) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	most, spare := cmp.Or(gs.Most, MostGames), cmp.Or(gs.Spare, SpareLimit)
	for !gs.closed && len(gs.games) >= most {
		idle := gs.longestIdle(spare)
		if idle == "" {
			return "", &Mistake{TooManyGames, fmt.Sprintf("%d games are on, which is the most there may be: end one, or wait until one has been idle for %d minutes.", most, int(spare.Minutes()))}
		}
		gs.mu.Unlock()
		_ = gs.End(idle)
		gs.mu.Lock()
	}
	if gs.closed {
		return "", &Mistake{TooManyGames, "The lab is being stopped, so no game begins any more."}
	}
	if gs.games == nil {
		gs.games = map[string]*kept{}
	}
	id = rand.Text()
	gs.games[id] = &kept{}
	gs.ending.Add(1) // Close waits for it
	return id, nil
}

// free gives the place back: no game has begun.
func (gs *Games) free(id string) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	delete(gs.games, id)
	gs.ending.Done()
}

// longestIdle is the game that may give way, if there is one.
func (gs *Games) longestIdle(limit time.Duration) (id string) {
	latest := time.Now().Add(-limit)
	for candidate, s := range gs.games {
		if s.Game != nil && !s.used.After(latest) {
			id, latest = candidate, s.used
		}
	}
	return id
}

// keep takes a game that has begun, unless all have been ended meanwhile.
func (gs *Games) keep(g *Game) {
	gs.mu.Lock()
	gs.games[g.id] = &kept{g, time.Now()}
	closed := gs.closed
	gs.mu.Unlock()
	if closed {
		_ = gs.End(g.id)
	}
}

// on is a game that has begun; nil: there is none of this name.
func (gs *Games) on(id string) *kept {
	if s := gs.games[id]; s != nil && s.Game != nil {
		return s
	}
	return nil
}

// Game is the game of this name, which is not idle now.
func (gs *Games) Game(id string) (*Game, error) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	s := gs.on(id)
	if s == nil {
		return nil, unknownGame
	}
	s.used = time.Now()
	return s.Game, nil
}

// End ends a game.
func (gs *Games) End(id string) error {
	gs.mu.Lock()
	s := gs.on(id)
	if s != nil {
		delete(gs.games, id)
	}
	gs.mu.Unlock()
	if s == nil {
		return unknownGame
	}
	defer gs.ending.Done()
	if err := s.Close(context.Background()); err != nil && gs.Log != nil {
		gs.Log.Warn("a game left something behind", "error", err)
	}
	return nil
}

// Close ends all games; none begins any more. It waits until they have ended, or
// ctx has.
func (gs *Games) Close(ctx context.Context) error {
	gs.mu.Lock()
	gs.closed = true
	var ids []string
	for id := range gs.games {
		ids = append(ids, id)
	}
	gs.mu.Unlock()
	for _, id := range ids {
		go func() { _ = gs.End(id) }()
	}
	done := make(chan struct{})
	go func() {
		gs.ending.Wait()
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
	for _, t := range Tasks() {
		l := t.Level
		for _, info := range gs.Strategies {
			if info.Name == t.Setting.Strategy {
				l.Missing = gs.missing(info)
			}
		}
		l.Available = l.Missing == nil
		list = append(list, l)
	}
	return list
}
