// Package prove asks every strategy the same questions and answers them on real servers: does it oversell or lose
// updates, and what happens if a buyer dies, a lease ends or a reply is lost? If the answer depends on the order of
// commands, prove explores many orders (package explore); if it depends on time, prove measures. The answers form the
// guarantee matrix. Every "breaks" has a counterexample that can be replayed.
package prove

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab"
)

// Options define what is proved, on which servers, and how thoroughly.
type Options struct {
	Infos     []catalog.Info `kong:"-"`
	Questions []string       `placeholder:"ID" help:"Questions to ask: columns of docs/guarantees.md. Default: all."`
	// The limit Schedules should end each search, so that two runs give the same answers. Budget is a time limit
	// that only slow machines reach.
	Schedules int           `default:"${ProveSchedules}" help:"How many schedules one search runs at most."`
	Budget    time.Duration `default:"${ProveBudget}" help:"How long one search may take at most for its schedules in order, and again for those at random."`
	Workers   int           `default:"${ProveWorkers}" help:"Strategies that are proved side by side, each on servers of its own; a process for each processor has a part of them."`
	Seed      uint64        `default:"1" help:"Seed of the schedules that are drawn at random."`

	// Next returns the index in Infos of the strategy that a worker proves next, and false if none is left. If Next is
	// nil, all strategies of Infos are proved.
	Next func() (int, bool) `kong:"-"`
	// Servers starts a set of servers for one worker. The worker calls the function stop at its end. No other program
	// may use these servers during the proof.
	Servers func(context.Context) (s Servers, stop func(), err error) `kong:"-"`
	// Example stores a counterexample and returns the name of its file. The parameter rule is "" for
	// the first counterexample of an answer; for others, it is the rule that the counterexample breaks. If the field
	// Example is nil, no counterexample is stored.
	Example func(strategy, question, rule string, s *explore.Schedule) (string, error) `kong:"-"`
	// Progress is called after each cell.
	Progress func(done, total int, strategy string, q Question, c Cell) `kong:"-"`
}

// DefaultOptions returns options with which a proof takes about a quarter of an hour on two cores.
func DefaultOptions() Options { return Options{Schedules: 36, Budget: time.Minute, Workers: 4} }

// Servers has the servers that one worker uses.
type Servers struct {
	*lab.Lab // servers that only this worker uses
	// Losing is a lab with the topology lab.Losable. Workers share its servers, and use them one after another.
	Losing *lab.Lab
}

// Run computes the matrix. If ctx ends or a server fails, Run returns the error and the cells that are finished. All
// other cells are Missing.
func Run(ctx context.Context, o Options) (*Matrix, error) {
	if o.Example == nil {
		o.Example = func(string, string, string, *explore.Schedule) (string, error) { return "", nil }
	}
	if o.Next == nil {
		var proved atomic.Int64
		o.Next = func() (int, bool) {
			n := int(proved.Add(1))
			return n - 1, n <= len(o.Infos)
		}
	}
	m, done := newMatrix(o), 0
	var mu sync.Mutex // guards m and done
	workers, ctx := errgroup.WithContext(ctx)
	for range min(o.Workers, len(o.Infos)) {
		workers.Go(func() error {
			servers, stop, err := o.Servers(ctx)
			if err != nil {
				return err
			}
			defer stop()
			mu.Lock()
			m.setBackends(servers.Backends())
			mu.Unlock()
			for row, ok := o.Next(); ok; row, ok = o.Next() {
				t := &trial{info: o.Infos[row], servers: servers, options: o, faultless: map[int]*faultlessResult{},
					cells: m.Rows[row].Cells}
				err := t.answerAll(ctx, m.Questions, func(q Question, c Cell) {
					mu.Lock()
					defer mu.Unlock()
					t.cells[q.ID] = c
					if done++; o.Progress != nil {
						o.Progress(done, len(m.Rows)*len(m.Questions), t.info.Name, q, c)
					}
				})
				if err != nil {
					return fmt.Errorf("%s: %w", t.info.Name, err)
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
	world     *explore.World           // runs the schedules; nil until openWorld opens it
	faultless map[int]*faultlessResult // results of searchFaultless; the keys are numbers of processes
	processes int                      // the last result of soundProcesses: the number of processes for the buyers
	cells     map[string]Cell          // the answers so far; the keys are IDs of questions
}

func (t *trial) answerAll(ctx context.Context, questions []Question, record func(Question, Cell)) error {
	defer t.closeWorld()
	for _, q := range questions {
		c, err := t.answerQuestion(ctx, q)
		if err != nil && ctx.Err() == nil {
			// A server may have restarted, so the question is asked once more with a new world. A second error is
			// recorded as the answer.
			t.closeWorld()
			c, err = t.answerQuestion(ctx, q)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			c = Cell{Answer: Failed, Text: err.Error()}
			t.closeWorld()
		}
		if c.Answer == Holds && c.Schedules > 0 && c.Text == "" && slices.Contains(t.info.Needs, backend.Procedures) {
			c.Text = "what its CALL does inside the server is one step"
		}
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

func (t *trial) config() backend.Config { return t.servers.Config().Only(t.info.Uses()...) }

func (t *trial) openWorld(ctx context.Context) (err error) {
	if t.world == nil {
		t.world, err = explore.Open(ctx, t.info, t.config(), explore.Options{})
	}
	return err
}

func (t *trial) closeWorld() {
	if t.world != nil {
		_ = t.world.Close() // the error does not matter, because the servers may have died
		t.world = nil
	}
	clear(t.faultless) // forget these results, which the failing server may have made wrong
}
