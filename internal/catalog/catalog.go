// Package catalog describes strategies: what each is, what it promises, what
// it needs, and how to build it on an instance's backends.
package catalog

import (
	"embed"
	"fmt"
	"log/slog"
	"time"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// Info is everything the program knows about one strategy. It is a value in
// the strategy's own file.
type Info struct {
	Name   string // as it is selected: "for-update"
	Title  string
	Family string // the package it lives in: "sqlrow"
	Source string // which article and idea it comes from
	Idea   string // what it does, in a sentence or two
	// Promises says what holds and why; Breaks says what breaks it and when.
	Promises string
	Breaks   string
	// Guarantees holds what we expect, by letter. A letter that is missing is
	// open.
	Guarantees Guarantees
	Needs      []backend.Capability
	Stock      ledger.Home
	Options    []Option
	// Files is the strategy's own source (and its Lua), embedded, so that the
	// page shows the very code that runs.
	Files embed.FS

	// New builds the strategy. Nil for a lock: Locker and Key are used then.
	New func(Deps) (seckill.Strategy, error)
	// Locker builds the lock; Key names a SKU's lock in the backend's own form.
	Locker func(Deps) (lock.Locker, error)
	Key    func(sku int64) string
}

// Guarantees maps a letter to Holds or Breaks.
type Guarantees map[Letter]Expectation

// A Letter names one guarantee.
type Letter string

const (
	S Letter = "S" // never oversells or loses an update with concurrent buyers in one process
	M Letter = "M" // the same with buyers spread over several processes
	C Letter = "C" // a buyer's death at any step sells nothing twice and blocks the others only for a bounded time
	P Letter = "P" // a holder paused past its lease, or whose session ends under it, cannot damage the stock
	O Letter = "O" // nobody can release a lock that is not theirs
	I Letter = "I" // buyers of different SKUs do not wait for each other
	N Letter = "N" // survives the loss of one node of its backend
)

// An Expectation of a guarantee.
type Expectation string

const (
	Holds  Expectation = "holds"
	Breaks Expectation = "breaks"
)

// An Option that changes how a strategy behaves, set on the command line of
// the service.
type Option struct {
	Flag string // "--lock-wait"
	Doc  string
}

// Broken reports whether the strategy is shipped as a bad example: one that
// loses updates or oversells by itself, with every process alive and well.
func (i Info) Broken() bool {
	return i.Guarantees[S] == Breaks
}

// Settings are the options of all strategies.
type Settings struct {
	LockWait  time.Duration // how long a buyer waits for a lock or a row; > 0
	LockLease time.Duration // how long a lock lives unrenewed; > 0
	Retries   int           // further attempts of an optimistic strategy; >= 0
}

// DefaultSettings suit a demo on one machine.
func DefaultSettings() Settings {
	return Settings{LockWait: 3 * time.Second, LockLease: 8 * time.Second, Retries: 32}
}

// Deps is what a strategy is built from.
type Deps struct {
	*backend.Instance
	Ledger   *ledger.Store // bound to the strategy's name
	Settings Settings
	Observe  seckill.Observer
	Log      *slog.Logger
}

// Missing says why a strategy cannot run on an instance; nil if it can.
func (i Info) Missing(in *backend.Instance) []string {
	var why []string
	for _, need := range append([]backend.Capability{backend.SQL}, i.Needs...) {
		if ok, reason := in.Has(need); !ok && (len(why) == 0 || why[len(why)-1] != reason) {
			why = append(why, reason)
		}
	}
	return why
}

// Build makes the strategy on d. A lock is wrapped round the unprotected
// read–compute–write.
func Build(i Info, d Deps) (seckill.Strategy, error) {
	if d.Observe == nil {
		d.Observe = seckill.NopObserver{}
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	d.Ledger = d.Ledger.For(i.Name, d.Observe)
	if i.New != nil {
		return i.New(d)
	}
	locker, err := i.Locker(d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", i.Name, err)
	}
	return &lock.Guarded{Locker: locker, Key: i.Key, Ledger: d.Ledger, Observe: d.Observe,
		Options: lock.Options{Wait: d.Settings.LockWait, Lease: d.Settings.LockLease}}, nil
}
