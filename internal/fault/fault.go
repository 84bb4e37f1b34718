// Package fault is what can go wrong for real with the processes of a lab. A
// Fault is a value: a name, whether it can be had here, how it is injected, and
// what it can say afterwards: whether it took effect, and whether that could
// matter. A new one is a file of its own and a line in All.
//
// Faults at a service befall a process whatever it does; faults at the holder
// wait for a purchase that has read the stock and is about to write it, and
// befall the process that has it.
package fault

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"seckill/internal/fault/point"
)

// A Name of a fault.
type Name string

// A Fault is one thing that can go wrong.
type Fault struct {
	Name     Name
	Describe string // in one line
	// Holder: it befalls the process that has a purchase at a point. Everywhere:
	// it befalls a server, and so all processes. Else the process that is named.
	Holder, Everywhere bool
	Lasts              bool // it has an end of its own, after Aim.For
	// Uses is the backend that the fault is about, as strategies name it in
	// their needs: it cannot matter for those that do not use it. "": for all.
	Uses string
	// Question is the column of the guarantee matrix that asks the same.
	Question string

	missing func(Env) *Lack
	inject  func(context.Context, Env, Aim) (*Injection, error)
}

// All are the faults, in the order in which they are shown.
var All = []Fault{pauseHolder, hangHolder, killHolder, cutHolder, pauseService, killService, jumpClock,
	restartRedis, pauseRedis, fullRedis, restartMySQL, pauseMySQL, lockRow,
	restartZooKeeper, restartEtcd, fullEtcd, cutSession,
	muteMySQL, partRedis, muteRedis, partZooKeeper, partEtcd,
	loseZooKeeper, loseEtcd, failoverRedis, loseShard, pauseShard, loseMySQL}

// Find finds a fault by its name.
func Find(name Name) (Fault, error) {
	i := slices.IndexFunc(All, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		var names []string
		for _, f := range All {
			names = append(names, string(f.Name))
		}
		return Fault{}, fmt.Errorf("there is no fault called %q, only %s", name, strings.Join(names, ", "))
	}
	return All[i], nil
}

// An Env is where faults happen; a lab is one.
type Env interface {
	Services() []Process
	// Server is a server that the lab started itself, by its name; why says
	// why there is none that may come to harm.
	Server(name string) (p Process, why *Lack)
	// Group is the servers of a backend that has several in this lab; why says
	// why there are none.
	Group(name string) (g Group, why *Lack)
	// Shard is a shard of Redis: the one at an address, or at "" the one to which most
	// commands go. NoShards says why there are none; nil: there are.
	Shard(ctx context.Context, address string) (Process, error)
	NoShards() *Lack
	// Link is the network between a service process, counted from 1, and a server;
	// why says why it cannot be harmed.
	Link(service int, server string) (l Link, why *Lack)
	// Database is a connection to MySQL as its administrator, who closes it; why says
	// why there is none.
	Database() (db *sql.DB, why *Lack)
	// Redis runs a command on the lab's Redis.
	Redis(ctx context.Context, command ...any) (any, error)
	// Etcd asks the lab's etcd over its gateway for HTTP and JSON. What it refuses is
	// an error.
	Etcd(ctx context.Context, path, body string, answer any) error
	// NoPoints says why no service has fault points; nil: they have.
	NoPoints() *Lack
	// RedisMarked reads whether Redis still has the mark that MarkRedis wrote.
	MarkRedis(ctx context.Context) error
	RedisMarked(ctx context.Context) (bool, error)
}

// A Process can come to harm. Its Lock is held while it does, or recovers.
type Process interface {
	Lock()
	Unlock()
	Title() string
	Address() string // host:port
	Alive() bool
	Paused() bool
	// Stands reports whether the system says that it stands still.
	Stands() bool
	Run() any // changes when it is started again
	Pause(context.Context) error
	Resume(context.Context) error
	Kill(context.Context) error
	Restart(context.Context) error
	// Points are those of a service; nil if it was started without.
	Points() *point.Client
}

// An Aim says what a fault is to hit.
type Aim struct {
	Service  int           // the number of a process, from 1
	Strategy string        // of the sale that is on,
	SKU      int64         // and what it sells
	For      time.Duration // how long it lasts, of faults with an end of their own
	Shard    string        // host:port of the one that is lost; "": the one to which most commands go
	// Busy waits a moment for a purchase to be under way where the fault will happen:
	// without one it could not matter.
	Busy bool
}

// An Injection is a fault that was injected, or that waited in vain.
type Injection struct {
	Effect Effect
	undo   func(context.Context, *Effect) error
}

// NewInjection is a fault that was injected. undo, unless nil, ends what lasts
// of it, and may change the effect.
func NewInjection(e Effect, undo func(context.Context, *Effect) error) *Injection {
	return &Injection{e, undo}
}

// Lasts reports whether there is anything to undo.
func (i *Injection) Lasts() bool { return i.undo != nil }

// Undo ends what lasts, and returns what came of it. It is no error when that
// is over already.
func (i *Injection) Undo(ctx context.Context) (Effect, error) {
	if i.undo == nil {
		return i.Effect, nil
	}
	undo := i.undo
	i.undo = nil
	err := undo(ctx, &i.Effect)
	return i.Effect, err
}

// Missing says why a fault cannot be had; nil if it can.
func (f Fault) Missing(e Env) *Lack { return f.missing(e) }

// LosesData reports whether a server loses what it had.
func (f Fault) LosesData() bool { return f.Question == nodeLoss }

// Inject makes it go wrong, and returns when it has. A fault at a holder waits
// for one, until ctx ends or the stock is gone: that is no error, and the
// Effect says so.
func (f Fault) Inject(ctx context.Context, e Env, a Aim) (*Injection, error) {
	if why := f.missing(e); why != nil {
		return nil, fmt.Errorf("%s is not to be had here: %s", f.Name, why)
	}
	return f.inject(ctx, e, a)
}

func always(Env) *Lack { return nil }

// atService does harm to the process that is aimed at, which is locked, after a look
// at what it has under way.
func atService(harm func(context.Context, Process, Effect) (*Injection, error)) func(context.Context, Env, Aim) (*Injection, error) {
	return func(ctx context.Context, e Env, a Aim) (*Injection, error) {
		p, err := service(e, a.Service)
		if err != nil {
			return nil, err
		}
		defer p.Unlock()
		if p.Paused() {
			return nil, fmt.Errorf("%s is paused already", p.Title())
		}
		return harm(ctx, p, before(ctx, p, a.Service, a))
	}
}

// service finds the process that is aimed at, and locks it.
func service(e Env, number int) (Process, error) {
	all := e.Services()
	if number < 1 || number > len(all) {
		return nil, fmt.Errorf("there is no service process %d: the lab runs %d", number, len(all))
	}
	p := all[number-1]
	p.Lock()
	if !p.Alive() {
		p.Unlock()
		return nil, fmt.Errorf("%s is dead already", p.Title())
	}
	return p, nil
}
