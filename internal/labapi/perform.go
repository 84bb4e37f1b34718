package labapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lab"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

const (
	// patience is how long a buyer of the lab waits for an answer.
	patience = 15 * time.Second
	// restarting bounds how long the service processes may take to end with
	// their purchases and to start again.
	restarting = time.Minute
)

// perform has the lanes of a run storm their sales at once, and has done with
// whatever went wrong meanwhile before the run has ended. Whoever is told of
// that finds it in the history, and may start the next.
func (s *Server) perform(ctx context.Context, e *entry, m *mishaps, release func()) {
	err := s.serve(ctx, e)
	if err == nil {
		s.storm(ctx, e, m)
	}
	m.end()
	ended := s.book.read(e)
	ended.State = Done
	if !ended.measured() {
		ended.State, ended.Error = Failed, ended.Lanes[0].Error
		if err != nil {
			ended.Error = err.Error()
		}
	}
	for i := range ended.Lanes {
		ended.Lanes[i].Known = s.known(ended, i)
	}
	ended.NotKept = s.book.keep(ended)
	release()
	s.book.change(e, func(r *Run) bool { *r = ended; return true })
	s.Log.Info("run ended", "run", e.ID, "strategies", e.Settings.Strategies, "state", ended.State, "error", ended.Error)
}

// serves reports whether the service processes run, and as they should.
func (s *Server) serves(w lab.ServiceSettings) bool {
	return s.Lab.ServiceSettings() == w &&
		!slices.ContainsFunc(s.Lab.Services(), func(service lab.Service) bool { return !service.Up })
}

// haveServing starts the service processes that do not run, or not so. Once
// begun it is done, so that who is stopped leaves a lab that works.
func (s *Server) haveServing(ctx context.Context, w lab.ServiceSettings) error {
	if s.serves(w) {
		return nil
	}
	starting, cancel := context.WithTimeout(context.WithoutCancel(ctx), restarting)
	defer cancel()
	defer s.LabChanged()
	return s.Lab.Serve(starting, w)
}

// serve makes the service processes what the run wants.
func (s *Server) serve(ctx context.Context, e *entry) error {
	if err := s.haveServing(ctx, e.Settings.ServiceSettings); err != nil {
		return fmt.Errorf("the service processes could not be started: %w", err)
	}
	if ctx.Err() != nil {
		return errors.New("it was stopped before the sale began")
	}
	s.book.change(e, func(r *Run) bool {
		if r.State == Preparing {
			r.State = Running
		}
		return true
	})
	return nil
}

func (s *Server) storm(ctx context.Context, e *entry, m *mishaps) {
	targets, lanes := s.live(), len(e.Settings.Strategies)
	begin, end := newLine(lanes), newLine(lanes)
	var all sync.WaitGroup
	for i := range lanes {
		all.Go(func() {
			comes, goes := sync.OnceFunc(begin.pass), sync.OnceFunc(end.pass)
			defer goes()
			defer comes() // also one that does not come is not waited for
			c := s.config(ctx, e, i, targets)
			c.Outage = func() time.Duration { return m.outage(s.book.read(e).Faults) }
			c.Begin = func() {
				comes()
				<-begin.open
				m.begin()
			}
			c.End = func() {
				goes()
				<-end.open
			}
			result, err := s.Load(ctx, c)
			s.book.change(e, func(r *Run) bool {
				r.Lanes[i].Result = result
				if err != nil {
					r.Lanes[i].Error = err.Error()
				}
				return true
			})
		})
	}
	all.Wait()
}

func (s *Server) config(ctx context.Context, e *entry, lane int, targets []string) loadtest.Config {
	scenario := e.Settings.scenario(lane)
	return loadtest.Config{
		Scenario: scenario, Targets: targets, AdminToken: s.ServiceToken, Ledger: s.Ledger,
		OnProgress: func(p loadtest.Progress) {
			s.look(ctx, &p, scenario)
			s.book.change(e, func(r *Run) bool { return r.Lanes[lane].add(p) })
		},
	}
}

// mishap writes down how far a fault of a run has come.
func (s *Server) mishap(e *entry, i int, f Fault) {
	s.book.change(e, func(r *Run) bool {
		if i == len(r.Faults) {
			r.Faults = append(r.Faults, f)
		}
		r.Faults[i] = f
		return true
	})
	if f.State != FaultPlanned {
		s.LabChanged()
	}
	if f.State == FaultFailed {
		s.Log.Warn("a fault failed", "run", e.ID, "kind", f.Kind, "service", f.Service, "error", f.Error)
	}
}

// look replaces what buyers were told by what the database says, if it says so
// at once and keeps the stock of this strategy at all.
func (s *Server) look(ctx context.Context, p *loadtest.Progress, sale loadtest.Scenario) {
	i := slices.IndexFunc(s.Strategies, func(i catalog.Info) bool { return i.Name == sale.Strategy })
	if s.Left == nil || s.Strategies[i].Stock != ledger.HomeRow {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pace)
	defer cancel()
	if left, err := s.Left(ctx, sale.SKU); err == nil {
		p.Left = left
	}
}

// A line is where several lanes wait for each other.
type line struct {
	mu      sync.Mutex
	missing int
	open    chan struct{}
}

func newLine(n int) *line { return &line{missing: n, open: make(chan struct{})} }

// pass counts a lane that has come, or will not come.
func (l *line) pass() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.missing--; l.missing == 0 {
		close(l.open)
	}
}
