package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/fault/point"
	"seckill/internal/lab"
)

// A scene is where a fault happens.
type scene struct {
	lab *lab.Lab
	aim Aim
	// process comes to harm; its Harm is locked until that is done.
	process *lab.Process
	servers *lab.Ensemble // of which process is one, where one leads
	link    *lab.Relay    // between the process and the server that the fault is about
	letGo   func()        // has the purchase that is held go on
	seen    Effect        // just before
}

// A place is what a fault can befall.
type place struct {
	// Holder: it befalls the process that has a purchase at a point. Everywhere:
	// it befalls a server, and so all processes. Else the process that is named.
	Holder, Everywhere bool
	// Uses is the backend that the fault is about, as strategies name it in
	// their needs: it cannot matter for those that do not use it. "": for all.
	Uses backend.Capability

	// missing says why there is none in a lab; nil: there is.
	missing func(*lab.Lab) *Lack
	// find finds the process, and locks it. Without a process there was no
	// purchase to catch, and seen says why.
	find func(context.Context, *scene) error
}

// uses are the backends that strategies may do without.
var uses = map[string]backend.Capability{backend.NameRedis: backend.Redis, quorumNode: backend.RedisQuorum,
	backend.NameZooKeeper: backend.ZooKeeper, backend.NameEtcd: backend.Etcd}

// quorumNode is the process that is hit of the five alike.
const quorumNode = backend.NameRedlock + "-3"

func nothing(*lab.Lab) *Lack { return nil }

// service is the process that is named.
var service = place{
	missing: nothing,
	find: func(_ context.Context, s *scene) error {
		all := s.lab.ServiceProcesses()
		if s.aim.Service < 1 || s.aim.Service > len(all) {
			return fmt.Errorf("there is no service process %d: the lab runs %d", s.aim.Service, len(all))
		}
		p := all[s.aim.Service-1]
		p.Harm.Lock()
		if !p.Alive() {
			p.Harm.Unlock()
			return fmt.Errorf("%s is dead already", p.Name)
		}
		s.process = p
		return nil
	}}

// link is what passes between the process that is named and a server.
func link(name string) place {
	return place{
		Uses: uses[name],
		missing: func(l *lab.Lab) *Lack {
			if why := notOurs(l, name); why != nil || l.Link(1, name) != nil {
				return why
			}
			return &Lack{LackLink, map[string]any{"name": name},
				fmt.Sprintf("service processes of this lab reach %s directly: seckill chaos starts one with links in between", name)}
		},
		find: func(ctx context.Context, s *scene) error {
			s.link = s.lab.Link(s.aim.Service, name)
			return service.find(ctx, s)
		}}
}

// server is a process of the lab's own: the only one of a backend, or a quorum's node.
func server(name string) place {
	return place{
		Everywhere: true, Uses: uses[name],
		missing: func(l *lab.Lab) *Lack { return notOurs(l, name) },
		find: func(_ context.Context, s *scene) (err error) {
			return s.lock(s.lab.Process(name))
		}}
}

// notOurs says why a server may not be broken: only the lab's own may, and of several
// one would be hit, which most sales would not notice.
func notOurs(l *lab.Lab, name string) *Lack {
	if _, err := l.Process(name); err == nil {
		return nil
	}
	if kind, _, _ := strings.Cut(name, "-"); l.Config().Tiers[kind] == backend.Given {
		return &Lack{LackGiven, map[string]any{"name": name}, fmt.Sprintf("%s was given, and only servers that the lab has started are broken: "+
			"start a lab without its address where the server is installed, as make demo does", name)}
	}
	return &Lack{LackServer, map[string]any{"name": name},
		fmt.Sprintf("%s is not one server that the lab has started: install it, and start the lab without its address, --embedded and --topology", name)}
}

// leader is the one of several that leads, which a topology has started; of shards, the
// one to which most commands go.
func leader(name, topology string) place {
	return place{
		Everywhere: true, Uses: uses[name],
		missing: func(l *lab.Lab) *Lack {
			if l.Topology() == topology && l.Group(name) != nil {
				return nil
			}
			return &Lack{LackTopology, map[string]any{"name": name, "topology": topology},
				fmt.Sprintf("%s is not several servers here as the fault needs them: start the lab with --topology %s", name, topology)}
		},
		find: func(ctx context.Context, s *scene) error {
			s.servers = s.lab.Group(name)
			return s.lock(s.servers.Leader(ctx))
		}}
}

// holder is the process that has a purchase at a point.
func holder(at point.Name) place {
	return place{Holder: true, missing: nothing, find: func(ctx context.Context, s *scene) error { return s.catch(ctx, at) }}
}

func (s *scene) lock(p *lab.Process, err error) error {
	if err != nil {
		return err
	}
	p.Harm.Lock()
	s.process = p
	return nil
}

// points are those of a service process.
func (s *scene) points(p *lab.Process) *point.Client {
	return &point.Client{URL: "http://" + p.Addr, Token: s.lab.Token()}
}

const (
	// A purchase is held no longer than maxHold, and no shorter than minHold: until
	// its process has been stopped.
	maxHold = time.Minute
	minHold = 500 * time.Millisecond
	// lookAgain is how often it is asked whether there is anything left to buy.
	lookAgain = minHold
)

// A catch is what came of the wait for a purchase in one process.
type catch struct {
	point.Catch
	process *lab.Process
	number  int
	letGo   func()
	err     error
}

// catch waits until a purchase of any process stands at the point, or ctx ends, or
// there is nothing left to buy.
func (s *scene) catch(ctx context.Context, at point.Name) error {
	hold := maxHold
	if s.aim.For > 0 {
		hold = min(max(s.aim.For, minHold), maxHold)
	}
	order := point.Order{Point: at, Strategy: s.aim.Strategy, SKU: s.aim.SKU, For: int(hold.Milliseconds())}
	s.seen = Effect{At: at, Why: NotReached}
	failed := errors.New("no service process is alive and well")
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	catches := make(chan catch)
	left := map[int]bool{} // the numbers of those that are waited for
	for i, p := range s.lab.ServiceProcesses() {
		if !p.Alive() || p.Paused() {
			continue
		}
		left[i+1] = true
		go func() {
			caught, letGo, err := s.points(p).Hold(waiting, order)
			select {
			case catches <- catch{caught, p, i + 1, letGo, err}:
			case <-waiting.Done(): // two may be caught at once: one is enough
				letGo()
			}
		}()
	}
	soldOut := func() bool {
		for number := range left {
			s.seen.Left = s.look(context.WithoutCancel(ctx), number).Left
			break
		}
		return s.seen.Left != nil && *s.seen.Left <= 0
	}
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for none := false; len(left) > 0; {
		select {
		case c := <-catches:
			switch {
			case c.err != nil: // it has died, perhaps
				failed = fmt.Errorf("wait for a purchase in %s: %w", c.process.Name, c.err)
				delete(left, c.number)
			case c.Holder == nil:
				c.letGo()
				s.seen.Why = NoPoint
				return nil
			default:
				s.take(context.WithoutCancel(ctx), c)
				return nil
			}
		case <-again.C:
			if none { // and no buyer who had just come was taking the last unit
				s.seen.Why = NoUnits
				return nil
			}
			none = soldOut()
		case <-ctx.Done():
			if soldOut() {
				s.seen.Why = NoUnits
			}
			return nil
		}
	}
	return failed
}

// take makes the process whose purchase is caught the one that the fault is aimed at.
func (s *scene) take(ctx context.Context, c catch) {
	at := s.seen.At
	c.process.Harm.Lock()
	s.process, s.letGo = c.process, c.letGo
	s.seen = s.busy(ctx, c.number)
	s.seen.Holder, s.seen.At = c.Holder, at
}

// pauseHolder: the trap is over when the pause is. So when the process goes on, the
// purchase does, too, before a warning can reach it.
func pauseHolder(ctx context.Context, s *scene) (*Injection, error) {
	i, err := pause(ctx, s)
	if err != nil {
		return nil, err
	}
	resume := i.Undo
	i.Undo = func(ctx context.Context, e *Effect) error {
		defer s.letGo()
		return resume(ctx, e)
	}
	return i, nil
}

func hang(_ context.Context, s *scene) (*Injection, error) {
	begun := time.Now()
	return s.injected(true, func(_ context.Context, e *Effect) error {
		e.Stood = int(time.Since(begun).Milliseconds())
		s.letGo()
		if !s.process.Alive() {
			e.void(WentOn)
		}
		return nil
	})
}

// cut takes the connections of the holder's process, and with them what a backend
// ties to a connection. It leaves the purchase where it stands for a while: its
// successor is to come first.
func cut(ctx context.Context, s *scene) (*Injection, error) {
	closed, err := s.points(s.process).Cut(ctx)
	if err == nil && closed == 0 {
		err = fmt.Errorf("%s had no connection to cut", s.process.Name)
	}
	if err != nil {
		return nil, err
	}
	return hang(ctx, s)
}
