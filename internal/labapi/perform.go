package labapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

const (
	// buyerTimeout is how long a buyer of the lab waits for an answer.
	buyerTimeout = 15 * time.Second
	// restarting bounds how long the service processes may take to end with
	// their purchases and to start again.
	restarting = time.Minute
)

// perform runs all lanes concurrently, reverts the faults, then saves the run:
// a page that is told of the end finds it in the history, and may start the
// next.
func (s *Server) perform(ctx context.Context, e *runEntry, begun Run, release func()) {
	var err error
	if !begun.Shop {
		err = s.serve(ctx, e, begun.Settings)
	}
	if err == nil {
		s.sell(ctx, e, begun)
	}
	begun.injector.End()
	ended := s.runs.read(e)
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
	begun.of.ended(&ended)
	goesOn := ended.Series != nil && ended.Series.Ended == ""
	ended = s.runs.keep(ended)
	if !goesOn {
		release()
	}
	s.runs.change(e, func(r *Run) { *r = ended })
	if goesOn {
		s.goOn(begun.of, release)
	}
	s.Log.Info("run ended", "run", ended.ID, "strategies", ended.Settings.Strategies, "state", ended.State, "error", ended.Error)
}

// serves reports whether the service processes run, and as they should.
func (s *Server) serves(w lab.ServiceSettings) bool {
	return s.Lab.ServiceSettings() == w &&
		!slices.ContainsFunc(s.Lab.Services(), func(service lab.Service) bool { return !service.Up })
}

// haveServing starts the service processes with these settings, if they do not
// run so already. It ignores that ctx ends: a stopped run leaves a lab that
// works.
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
func (s *Server) serve(ctx context.Context, e *runEntry, w Settings) error {
	if err := s.haveServing(ctx, w.ServiceSettings); err != nil {
		return fmt.Errorf("the service processes could not be started: %w", err)
	}
	if ctx.Err() != nil {
		return errors.New("it was stopped before the sale began")
	}
	s.runs.change(e, func(r *Run) {
		if r.State == Preparing {
			r.State = Running
		}
	})
	return nil
}

// sell runs all lanes; their buyers come, and their results are taken, together.
func (s *Server) sell(ctx context.Context, e *runEntry, begun Run) {
	targets, lanes := s.live(), len(begun.Lanes)
	var come, gone, all sync.WaitGroup // a lane that fails has come and gone
	come.Add(lanes)
	gone.Add(lanes)
	for i := range lanes {
		all.Go(func() {
			comes, goes := sync.OnceFunc(come.Done), sync.OnceFunc(gone.Done)
			defer goes()
			defer comes() // the others do not wait for a lane that failed before
			scenario := begun.Settings.scenario(i)
			scenario.SKU = begun.Lanes[i].SKU
			c := s.config(ctx, e, scenario, i, targets)
			c.Joins = begun.Shop
			c.Outage = begun.injector.Outage
			c.Begin = func() {
				comes()
				come.Wait()
				begun.await(ctx)
				begun.injector.Begin()
			}
			c.End = func() {
				goes()
				gone.Wait()
			}
			result, err := s.Load(ctx, c)
			s.runs.change(e, func(r *Run) {
				r.Lanes[i].Result = result
				if err != nil {
					r.Lanes[i].Error = err.Error()
				}
			})
		})
	}
	all.Wait()
}

func (s *Server) config(ctx context.Context, e *runEntry, scenario loadtest.Scenario, lane int, targets []string) loadtest.Config {
	return loadtest.Config{
		Scenario: scenario, Targets: targets, AdminToken: s.ServiceToken, Ledger: s.Ledger,
		OnProgress: func(p loadtest.Progress) {
			s.look(ctx, &p, scenario)
			s.runs.step(e, func(r *Run) bool { return r.Lanes[lane].add(p) })
		},
	}
}

// faultChanged writes down how far a fault of a run has come.
func (s *Server) faultChanged(e *runEntry, i int, f fault.Happening) {
	var id string
	s.runs.change(e, func(r *Run) {
		id = r.ID
		if i == len(r.Faults) {
			r.Faults = append(r.Faults, f)
		}
		r.Faults[i] = f
	})
	if f.State != fault.IsPlanned {
		s.LabChanged()
	}
	if f.State == fault.HasFailed {
		s.Log.Warn("a fault failed", "run", id, "kind", f.Kind, "service", f.Service, "error", f.Error)
	}
}

// look replaces what buyers were told by what the database says, if it answers
// at once and has the stock of this strategy.
func (s *Server) look(ctx context.Context, p *loadtest.Progress, sale loadtest.Scenario) {
	i := slices.IndexFunc(s.Strategies, func(i catalog.Info) bool { return i.Name == sale.Strategy })
	if s.Left == nil || s.Strategies[i].Stock != ledger.InRow {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pace)
	defer cancel()
	if left, err := s.Left(ctx, sale.SKU); err == nil {
		p.Left = left
	}
}
