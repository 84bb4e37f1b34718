package lab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
)

// Add starts the backends that are not there yet, side by side.
func (l *Lab) Add(ctx context.Context, names ...string) error {
	l.mu.Lock()
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, there := l.statuses[name]
		return there
	})
	l.mu.Unlock()
	if err := l.checkRoom(names); err != nil {
		return err
	}
	together, ctx := errgroup.WithContext(ctx)
	for _, name := range names {
		together.Go(func() error {
			begun := time.Now()
			status, err := l.add(ctx, name)
			if err != nil {
				return err
			}
			l.mu.Lock()
			l.statuses[name] = status
			if status.OK {
				l.config.Tiers[name] = status.Tier
			}
			l.mu.Unlock()
			l.progress(name, time.Since(begun))
			return nil
		})
	}
	return together.Wait()
}

// progress tells of one thing at a time.
func (l *Lab) progress(name string, took time.Duration) {
	l.telling.Lock()
	defer l.telling.Unlock()
	l.options.Log.Info("started", "name", name, "took", took)
	l.options.Progress(name, took)
}

// add takes a backend from where the house says: an address that was given, a
// program of this machine, an embedded engine. Else the status says why not.
func (l *Lab) add(ctx context.Context, name string) (backend.Status, error) {
	if address := givenAddress(l.options.Given, name); address != "" {
		return l.checkGiven(ctx, name, address)
	}
	program, known := l.programs.For(name)
	if !known {
		return backend.Status{}, fmt.Errorf("no backend is called %q: choose from %v", name, AllBackends)
	}
	if name == backend.NameRedis && l.options.Topology == Cluster {
		return l.addRedisCluster(ctx, program)
	}
	if l.isPrivate(name, program) {
		return l.addPrivate(ctx, name, program)
	}
	switch name {
	case backend.NameMySQL:
		return l.addSQLite(ctx)
	case backend.NameRedis:
		return l.addMiniredis()
	}
	why := program.Missing()
	if program.Found() {
		why = "there is no embedded engine for it: start the lab without --embedded"
	}
	return backend.Status{Name: name, Error: why}, nil
}

func (l *Lab) addPrivate(ctx context.Context, name string, program Program) (backend.Status, error) {
	servers := l.servers(name, program)
	processes := make([]*Process, len(servers))
	together, ctx := errgroup.WithContext(ctx)
	for i, s := range servers {
		together.Go(func() (err error) {
			processes[i], err = l.launch(ctx, s)
			return err
		})
	}
	if err := together.Wait(); err != nil {
		return backend.Status{}, err
	}
	status := backend.Status{Name: name, Tier: backend.Private, OK: true}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, p := range processes {
		if i > 0 {
			status.Address += ","
		}
		status.Address += p.Addr
		status.Version = p.version
		l.processes = append(l.processes, p)
	}
	l.setPrivate(&l.config, name, status.Address)
	return status, nil
}
