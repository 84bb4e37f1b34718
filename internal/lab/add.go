package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
)

// Add starts the backends that are not there yet, concurrently.
func (l *Lab) Add(ctx context.Context, names ...string) error {
	l.mu.Lock()
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, there := l.statuses[name]
		return there
	})
	l.mu.Unlock()
	starting, ctx := errgroup.WithContext(ctx)
	for _, name := range names {
		starting.Go(func() error {
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
	return starting.Wait()
}

// progress reports one start at a time.
func (l *Lab) progress(name string, took time.Duration) {
	l.telling.Lock()
	defer l.telling.Unlock()
	l.options.Log.Info("started", "name", name, "took", took)
	l.options.Progress(name, took)
}

// add takes a backend, in this order, from an address that was given, a program
// of this machine, an embedded engine. Without any, the status says why.
func (l *Lab) add(ctx context.Context, name string) (backend.Status, error) {
	k, err := l.kindNamed(name)
	if err != nil {
		return backend.Status{}, err
	}
	program := l.programs[k.tool]
	switch {
	case len(k.In(l.options.Given)) > 0:
		return l.checkGiven(ctx, k)
	case l.IsArranged(name):
		return l.addArranged(ctx, k, program)
	case l.isPrivate(k):
		return l.addPrivate(ctx, k, program)
	case k.embedded != nil:
		return k.embedded(ctx)
	}
	why := program.Missing()
	if program.Found() {
		why = "there is no embedded engine for it: start the lab without --embedded"
	}
	return backend.Status{Name: name, Error: why}, nil
}

// isPrivate reports whether the backend is started as a server of this machine.
func (l *Lab) isPrivate(k kind) bool {
	return len(k.In(l.options.Given)) == 0 && l.programs[k.tool].Found() && !l.options.Embedded
}

func (l *Lab) addPrivate(ctx context.Context, k kind, program Program) (backend.Status, error) {
	processes, err := k.start(ctx, program)
	if err != nil {
		return backend.Status{}, err
	}
	addrs := addrsOf(processes)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.setPrivate(&l.config, k.Name, addrs...)
	return backend.Status{Name: k.Name, Tier: backend.Private, OK: true, Address: strings.Join(addrs, ","),
		Version: processes[0].version}, nil
}

func addrsOf(processes []*Process) (addrs []string) {
	for _, p := range processes {
		addrs = append(addrs, p.Addr)
	}
	return addrs
}

// checkGiven makes sure that a backend that was given answers: the lab cannot
// run without what was asked for by its address.
func (l *Lab) checkGiven(ctx context.Context, k kind) (backend.Status, error) {
	addresses := k.In(l.options.Given)
	status := backend.Status{Name: k.Name, Tier: backend.Given, Address: backend.ShowAddresses(addresses), OK: true}
	for _, address := range addresses {
		asking, cancel := context.WithTimeout(ctx, answerLimit/6)
		version, err := k.version(asking, address)
		cancel()
		if err != nil {
			return status, fmt.Errorf("%s at %s does not answer: %w (is it running, and is the address right?)",
				k.Name, backend.Redact(address), err)
		}
		status.Version = version
	}
	return status, nil
}
