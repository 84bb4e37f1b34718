package fault

import (
	"context"
	"time"
)

const (
	// PauseService: the process stands still, as in a long garbage collection
	// or when its machine is suspended. Its sockets stay open.
	PauseService Name = "pause_service"
	// KillService: the process is gone, with whatever it was doing.
	KillService Name = "kill_service"
)

var pauseService = Fault{Name: PauseService, Question: leaseEnd, Lasts: true, missing: always,
	Describe: "a service process stands still, whatever it is doing",
	inject:   atService(pause)}

// pause has p, which is locked, stand still.
func pause(ctx context.Context, p Process, seen Effect) (*Injection, error) {
	run, begun := p.Run(), time.Now()
	if err := p.Pause(ctx); err != nil {
		return nil, err
	}
	seen.Took = await(ctx, p.Stands)
	seen.weigh()
	return &Injection{seen, func(ctx context.Context, e *Effect) error {
		p.Lock()
		defer p.Unlock()
		if p.Run() != run || !p.Alive() || !p.Paused() {
			e.Took, e.Matters, e.Why = false, false, WentOn
			return nil
		}
		if e.Took = e.Took && p.Stands(); !e.Took {
			e.Matters, e.Why = false, WentOn
		}
		e.Stood = int(time.Since(begun).Milliseconds())
		return p.Resume(ctx)
	}}, nil
}

var killService = Fault{Name: KillService, Question: deadHolder, missing: always,
	Describe: "a service process is killed, whatever it is doing",
	inject: func(ctx context.Context, e Env, a Aim) (*Injection, error) {
		p, err := service(e, a.Service)
		if err != nil {
			return nil, err
		}
		defer p.Unlock()
		return kill(ctx, p, before(ctx, p, a.Service, a))
	}}

// kill ends p, which is locked, until it is undone.
func kill(ctx context.Context, p Process, seen Effect) (*Injection, error) {
	run := p.Run()
	if err := p.Kill(ctx); err != nil {
		return nil, err
	}
	seen.Took = !p.Alive()
	seen.weigh()
	return &Injection{seen, func(ctx context.Context, _ *Effect) error {
		p.Lock()
		defer p.Unlock()
		if p.Run() != run {
			return nil
		}
		return p.Restart(ctx)
	}}, nil
}

// await asks until it is so, for a second at most.
func await(ctx context.Context, so func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for !so() {
		select {
		case <-again.C:
		case <-ctx.Done():
			return so()
		}
	}
	return true
}
