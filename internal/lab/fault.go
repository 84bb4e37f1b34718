package lab

import (
	"context"
	"fmt"
	"runtime"

	"seckill/internal/backend"
)

// A FaultKind names something that can go wrong in a lab, for real.
type FaultKind string

const (
	// PauseService: the process stands still, as in a long garbage collection
	// or when its machine is suspended. Its sockets stay open.
	PauseService FaultKind = "pause_service"
	// KillService: the process is gone, with whatever it was doing.
	KillService FaultKind = "kill_service"
	// RestartRedis: the server crashes and comes back without its data.
	RestartRedis FaultKind = "restart_redis"
	// CutZooKeeperSession: the server ends the session of one service. Its
	// ephemeral nodes, and so its locks, are gone.
	CutZooKeeperSession FaultKind = "cut_zookeeper_session"
)

// A fault is a kind of which the table below has one.
type fault struct {
	kind FaultKind
	// missing says why it cannot be done in this lab; "" if it can.
	missing func(*Lab) string
	server  string // whom it befalls; "": a service
	// inject returns when it has happened. victim is a living service, or the
	// server. undo ends what lasts of it; nil: nothing does.
	inject func(ctx context.Context, l *Lab, victim *Process) (undo func(context.Context) error, err error)
}

var faults = []fault{
	{PauseService, cannotPause, "", pauseService},
	{KillService, func(*Lab) string { return "" }, "", killService},
	{RestartRedis, isNotPrivate(backend.NameRedis), backend.NameRedis, restartRedis},
	{CutZooKeeperSession, isNotPrivate(backend.NameZooKeeper), "", cutZooKeeperSession},
}

// A FaultStatus says whether a kind of fault can be injected here.
type FaultStatus struct {
	Kind      FaultKind `json:"kind"`
	Available bool      `json:"available"`
	Missing   string    `json:"missing"` // why not
}

// Faults are all kinds, those too that cannot be had here.
func (l *Lab) Faults() (list []FaultStatus) {
	for _, f := range faults {
		why := f.missing(l)
		list = append(list, FaultStatus{f.kind, why == "", why})
	}
	return list
}

// Inject makes something go wrong, for real, and returns when it has. service
// is the number of the process that it befalls, from 1; Redis is everybody's.
// What lasts does so until undo, which is nil where nothing lasts. undo is no
// error when what it should undo is over already. Faults may be injected at
// once; those of one process come after each other.
func (l *Lab) Inject(ctx context.Context, kind FaultKind, service int) (undo func(context.Context) error, err error) {
	for _, f := range faults {
		if f.kind != kind {
			continue
		}
		if why := f.missing(l); why != "" {
			return nil, fmt.Errorf("%s is not to be had here: %s", kind, why)
		}
		victim, err := l.victim(f, service)
		if err != nil {
			return nil, err
		}
		victim.harm.Lock()
		defer victim.harm.Unlock()
		if f.server == "" && !victim.Alive() {
			return nil, fmt.Errorf("%s is dead already", victim.Name)
		}
		undo, err := f.inject(ctx, l, victim)
		if undo == nil || err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			victim.harm.Lock()
			defer victim.harm.Unlock()
			return undo(ctx)
		}, nil
	}
	return nil, fmt.Errorf("there is no fault called %q", kind)
}

func (l *Lab) victim(f fault, service int) (*Process, error) {
	if f.server != "" {
		return l.Process(f.server)
	}
	all := l.serviceProcesses()
	if service < 1 || service > len(all) {
		return nil, fmt.Errorf("there is no service process %d: the lab runs %d", service, len(all))
	}
	return all[service-1], nil
}

func cannotPause(*Lab) string {
	if runtime.GOOS == "windows" {
		return "Windows cannot pause a process"
	}
	return ""
}

// isNotPrivate: only a server of the lab's own may come to harm.
func isNotPrivate(name string) func(*Lab) string {
	return func(l *Lab) string {
		l.mu.Lock()
		defer l.mu.Unlock()
		switch status := l.statuses[name]; status.Tier {
		case backend.Private:
			return ""
		case backend.Given:
			return fmt.Sprintf("%s at %s was given, and is not the lab's to break", name, status.Address)
		case backend.Embedded:
			return fmt.Sprintf("%s is embedded in the lab: install a server, and start the lab without --embedded", name)
		}
		return "the lab has no " + name
	}
}

func pauseService(ctx context.Context, _ *Lab, victim *Process) (undo func(context.Context) error, err error) {
	if victim.Paused() {
		return nil, fmt.Errorf("%s is paused already", victim.Name)
	}
	run := victim.current()
	if err := victim.Pause(ctx); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		if victim.current() != run || !victim.Alive() || !victim.Paused() {
			return nil
		}
		return victim.Resume(ctx)
	}, nil
}

func killService(ctx context.Context, _ *Lab, victim *Process) (undo func(context.Context) error, err error) {
	run := victim.current()
	if err := victim.Kill(ctx); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		if victim.current() != run {
			return nil
		}
		return victim.Restart(ctx)
	}, nil
}

func restartRedis(ctx context.Context, _ *Lab, redis *Process) (undo func(context.Context) error, err error) {
	if err := redis.Kill(ctx); err != nil {
		return nil, err
	}
	// It comes back whatever becomes of the caller: there is only one.
	return nil, redis.Restart(context.WithoutCancel(ctx))
}
