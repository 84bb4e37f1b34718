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
	// IdleLimit is after how long a game that is left alone ends.
	IdleLimit = 30 * time.Minute
	// SpareLimit is how long a game must have been idle to give way to a new one when
	// the hall is full.
	SpareLimit = 3 * time.Minute
)

// A Hall keeps the games of one lab. Its methods may be called by several
// goroutines.
type Hall struct {
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

	mu      sync.Mutex
	games   map[string]*seat
	opening int       // games that are about to begin
	opened  sync.Once // what killed labs have left is gone, and idle games are ended
	closed  bool
	ending  sync.WaitGroup
}

// A seat is one game's.
type seat struct {
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
			return i, s, task, s.check()
		}
	}
	return info, s, nil, &Mistake{UnknownStrategy, fmt.Sprintf("There is no strategy %q: /api/v1/strategies lists them.", clip(r.Strategy))}
}

// Begin begins a game, and returns its name.
func (h *Hall) Begin(ctx context.Context, r Request) (id string, s State, err error) {
	var example explore.Example
	if r.Counterexample != "" {
		if example, err = readExample(h.Examples, r.Counterexample); err != nil {
			return "", s, err
		}
		r.Strategy, r.Buyers, r.Stock = example.Strategy, 2, 1
	}
	info, setting, task, err := r.setting(h.Strategies)
	if err == nil && r.Counterexample != "" {
		setting, err = ofExample(example)
	}
	if err != nil {
		return "", s, err
	}
	if _, err := Read(r.Schedule); err != nil {
		return "", s, err
	}
	if why := h.missing(info); why != nil {
		return "", s, &Mistake{StrategyUnavailable, fmt.Sprintf("%s cannot be played here: %s.", info.Name, why[0])}
	}
	if err := h.reserve(); err != nil {
		return "", s, err
	}
	h.opened.Do(func() { h.open(ctx) })
	var g *Game
	line := ""
	if r.Counterexample != "" {
		line, err = follow(ctx, h.Servers(), info, example, setting)
	}
	if err == nil {
		g, err = Open(ctx, h.Servers(), info, setting, task, r.Schedule)
	}
	if err != nil {
		h.mu.Lock()
		h.opening--
		h.mu.Unlock()
		h.ending.Done()
		return "", s, err
	}
	g.line = line
	id = rand.Text()
	h.seat(id, g)
	return id, withID(id, g.State()), nil
}

func (h *Hall) missing(info catalog.Info) []string {
	if h.Missing != nil {
		if why := h.Missing(info); why != nil {
			return why
		}
	}
	return Missing(h.Servers(), info)
}

// reserve takes a place for a game that is about to begin. In a full hall, the game
// that has been idle for longest gives way: its player can go on from the address.
func (h *Hall) reserve() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	most, spare := cmp.Or(h.Most, MostGames), cmp.Or(h.Spare, SpareLimit)
	for !h.closed && len(h.games)+h.opening >= most {
		idle := h.longestIdle(spare)
		if idle == "" {
			return &Mistake{TooManyGames, fmt.Sprintf("%d games are on, which is the most there may be: end one, or wait until one has been idle for %d minutes.", most, int(spare.Minutes()))}
		}
		h.mu.Unlock()
		_ = h.End(idle)
		h.mu.Lock()
	}
	if h.closed {
		return &Mistake{TooManyGames, "The lab is being stopped, so no game begins any more."}
	}
	h.opening++
	h.ending.Add(1) // Close waits for it
	return nil
}

// longestIdle is the game that may give way, if there is one.
func (h *Hall) longestIdle(limit time.Duration) (id string) {
	latest := time.Now().Add(-limit)
	for candidate, s := range h.games {
		if !s.used.After(latest) {
			id, latest = candidate, s.used
		}
	}
	return id
}

// EndIdle ends the games without a call for so long.
func (h *Hall) EndIdle(limit time.Duration) {
	for {
		h.mu.Lock()
		id := h.longestIdle(limit)
		h.mu.Unlock()
		if id == "" {
			return
		}
		_ = h.End(id)
	}
}

// open makes room before the first game, and has idle games ended until Close.
func (h *Hall) open(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaving)
	defer cancel()
	n, err := sweep(ctx, h.Servers())
	if h.Log != nil && (n > 0 || err != nil) {
		h.Log.Info("removed what earlier games had left", "games", n, "error", err)
	}
	go func() {
		minutes := time.NewTicker(time.Minute)
		defer minutes.Stop()
		for range minutes.C {
			h.EndIdle(IdleLimit)
			h.mu.Lock()
			closed := h.closed
			h.mu.Unlock()
			if closed {
				return
			}
		}
	}()
}

// seat keeps a game that has begun, unless all have been ended meanwhile.
func (h *Hall) seat(id string, g *Game) {
	h.mu.Lock()
	h.opening--
	if h.games == nil {
		h.games = map[string]*seat{}
	}
	h.games[id] = &seat{g, time.Now()}
	closed := h.closed
	h.mu.Unlock()
	if closed {
		_ = h.End(id)
	}
}

// find is the game, which is not idle now.
func (h *Hall) find(id string) (*Game, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.games[id]
	if s == nil {
		return nil, unknownGame
	}
	s.used = time.Now()
	return s.Game, nil
}

func withID(id string, s State) State {
	s.ID = id
	return s
}

// with calls f with a game.
func (h *Hall) with(id string, f func(*Game) (State, error)) (State, error) {
	g, err := h.find(id)
	if err != nil {
		return State{}, err
	}
	s, err := f(g)
	return withID(id, s), err
}

// State is a game as it stands.
func (h *Hall) State(id string) (State, error) {
	return h.with(id, func(g *Game) (State, error) { return g.State(), nil })
}

// Move makes a move.
func (h *Hall) Move(ctx context.Context, id, move string, after int) (State, error) {
	return h.with(id, func(g *Game) (State, error) { return g.Move(ctx, move, after) })
}

// Undo takes moves back.
func (h *Hall) Undo(ctx context.Context, id string, n int) (State, error) {
	return h.with(id, func(g *Game) (State, error) { return g.Undo(ctx, n) })
}

// SayImpossible is an answer to a level.
func (h *Hall) SayImpossible(id string) (State, error) {
	return h.with(id, func(g *Game) (State, error) { return g.SayImpossible() })
}

// End ends a game.
func (h *Hall) End(id string) error {
	h.mu.Lock()
	s := h.games[id]
	delete(h.games, id)
	h.mu.Unlock()
	if s == nil {
		return unknownGame
	}
	defer h.ending.Done()
	if err := s.Close(context.Background()); err != nil && h.Log != nil {
		h.Log.Warn("a game left something behind", "error", err)
	}
	return nil
}

// Close ends all games; none begins any more. It waits until they have ended, or
// ctx has.
func (h *Hall) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	var ids []string
	for id := range h.games {
		ids = append(ids, id)
	}
	h.mu.Unlock()
	for _, id := range ids {
		go func() { _ = h.End(id) }()
	}
	done := make(chan struct{})
	go func() {
		h.ending.Wait()
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
func (h *Hall) Levels() []Level {
	list := []Level{}
	for _, t := range Tasks() {
		l := t.Level
		for _, info := range h.Strategies {
			if info.Name == t.Setting.Strategy {
				l.Missing = h.missing(info)
			}
		}
		l.Available = l.Missing == nil
		list = append(list, l)
	}
	return list
}
