// Package prove asks every strategy the same questions and has the real
// servers answer: does it oversell, does it lose updates, what happens when a
// buyer dies, when a lease ends, when a reply is lost. What depends on the
// order of commands is explored (package explore), what depends on time is
// measured. The answers make the guarantee matrix; every "breaks" comes with a
// counterexample that can be replayed.
package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab"
)

// Options say what is proved, on what, and how thoroughly.
type Options struct {
	Infos     []catalog.Info `kong:"-"`
	Questions []string       `placeholder:"ID" help:"Columns to compute, by comma; all by default."`
	// Schedules is what makes two runs alike; Budget is for a machine that is slow.
	Schedules int           `default:"${ProveSchedules}" help:"How many schedules one search runs at most."`
	Budget    time.Duration `default:"${ProveBudget}" help:"How long one search may take at most for its schedules in order, and again for those at random."`
	Workers   int           `default:"${ProveWorkers}" help:"Strategies that are proved side by side, each on servers of its own."`
	Seed      uint64        `default:"1" help:"Seed of the schedules that are drawn at random."`

	// Servers starts a set of servers of its own for one worker. What is
	// explored on it must be alone there.
	Servers func(context.Context) (Servers, error) `kong:"-"`
	// Example keeps a counterexample and returns where. rule is "" for a cell's first one, and
	// what a further one breaks. Nil keeps none.
	Example func(strategy, question, rule string, s *explore.Schedule) (string, error) `kong:"-"`
	// Progress is told of each cell that was computed.
	Progress func(done, total int, strategy string, q Question, c Cell) `kong:"-"`
}

// DefaultOptions bound a proof to about fifteen minutes on two cores. (With four workers,
// servers that elect a leader come too late.)
func DefaultOptions() Options { return Options{Schedules: 60, Budget: time.Minute, Workers: 3} }

// Servers are what one worker has to itself.
type Servers interface {
	// Config is what an instance needs to use them.
	Config() backend.Config
	Backends() []backend.Status
	// Ensemble is servers of a backend of which one can be lost. It may be the
	// same for several workers; each takes it when its turn comes.
	Ensemble(ctx context.Context, name string) (*lab.Ensemble, error)
	Close() error
}

// Run computes the matrix. When ctx ends or a server fails in the middle, what
// was computed so far is returned with the error, and the cells that are
// missing say so.
func Run(ctx context.Context, o Options) (*Matrix, error) {
	if o.Progress == nil {
		o.Progress = func(int, int, string, Question, Cell) {}
	}
	if o.Example == nil {
		o.Example = func(string, string, string, *explore.Schedule) (string, error) { return "", nil }
	}
	questions, err := chooseQuestions(o.Questions)
	if err != nil {
		return nil, err
	}
	m := newMatrix(o.Infos, questions)
	m.Seed, m.Schedules = o.Seed, o.Schedules
	begun := time.Now()
	defer func() { m.Took = time.Since(begun).Round(time.Second).String() }()

	var mu sync.Mutex
	done, total := 0, len(o.Infos)*len(questions)
	record := func(row int, q Question, c Cell) {
		mu.Lock()
		defer mu.Unlock()
		m.Rows[row].Cells[q.ID] = c
		done++
		o.Progress(done, total, m.Rows[row].Strategy, q, c)
	}
	rows := make(chan int, len(o.Infos))
	for i := range o.Infos {
		rows <- i
	}
	close(rows)
	workers, ctx := errgroup.WithContext(ctx)
	for range min(o.Workers, len(o.Infos)) {
		workers.Go(func() error {
			servers, err := o.Servers(ctx)
			if err != nil {
				return err
			}
			defer servers.Close()
			mu.Lock()
			m.Backends = servers.Backends()
			for i := range m.Backends {
				m.Backends[i].Address = "" // another in every run
			}
			mu.Unlock()
			for i := range rows {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				t := &trial{info: o.Infos[i], servers: servers, options: o, faultless: map[int]*faultlessResult{},
					cells: map[string]Cell{}}
				err := t.answerAll(ctx, questions, func(q Question, c Cell) { record(i, q, c) })
				t.closeWorld()
				if err != nil {
					return fmt.Errorf("%s: %w", o.Infos[i].Name, err)
				}
			}
			return nil
		})
	}
	return m, workers.Wait()
}

// A trial asks one strategy the questions.
type trial struct {
	info      catalog.Info
	servers   Servers
	options   Options
	world     *explore.World           // opened at the first question that explores
	faultless map[int]*faultlessResult // what the searches without faults found, by processes
	cells     map[string]Cell          // what was answered
	// processes is how many the buyers of the current question use; 0: the strategy
	// breaks by itself, even in one.
	processes int
}

func (t *trial) answerAll(ctx context.Context, questions []Question, record func(Question, Cell)) error {
	for _, q := range questions {
		if missing := t.missingBackend(); missing != "" {
			record(q, Cell{Answer: NotAsked, Text: missing})
			continue
		}
		c, err := t.answerQuestion(ctx, q)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			// One try again on a fresh world: a server may have been restarted
			// under us. Twice is an answer of its own.
			t.closeWorld()
			if c, err = t.answerQuestion(ctx, q); err != nil {
				if errors.Is(err, context.Canceled) {
					return err
				}
				c = Cell{Answer: Failed, Text: err.Error()}
				t.closeWorld()
			}
		}
		if c.Answer == Holds && c.Schedules > 0 && c.Text == "" && slices.Contains(t.info.Needs, backend.Procedures) {
			c.Text = "what its CALL does inside the server is one step"
		}
		t.cells[q.ID] = c
		record(q, c)
	}
	return nil
}

func (t *trial) missingBackend() string {
	config := t.servers.Config()
	for _, need := range t.info.Needs {
		if ok, _ := config.Has(need); !ok {
			kind, _ := backend.KindOf(need)
			return "there is no " + kind.Title
		}
	}
	return ""
}

func (t *trial) openWorld(ctx context.Context) (*explore.World, error) {
	if t.world != nil {
		return t.world, nil
	}
	w, err := explore.Open(ctx, t.info, t.servers.Config().Only(t.info.Uses()...), explore.Options{})
	t.world = w
	return w, err
}

func (t *trial) closeWorld() {
	if t.world != nil {
		_ = t.world.Close() // its servers may have died
		t.world = nil
	}
	clear(t.faultless) // what was found there may have been the servers' doing
}
