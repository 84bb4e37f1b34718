package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/point"
)

type target struct {
	kind     targetKind
	server   string     // the server that the fault hits, or whose link it hits; "" for processes and purchases
	topology string     // for a leaderTarget: the topology that has several servers of this kind
	point    point.Name // for a purchaseTarget: the point at which the purchase is stopped
}

type targetKind int

const (
	processTarget  targetKind = iota // the service process Aim.Service
	linkTarget                       // the link between the process Aim.Service and a server
	serverTarget                     // the only server of a backend, or a node of a quorum
	leaderTarget                     // the leader of several servers, or the shard of a ring with the most commands
	purchaseTarget                   // any service process with a purchase that is held at a point (package point)
)

var aimedProcess = target{kind: processTarget}

func linkTo(server string) target   { return target{kind: linkTarget, server: server} }
func serverOf(server string) target { return target{kind: serverTarget, server: server} }

func leaderOf(server, topology string) target {
	return target{kind: leaderTarget, server: server, topology: topology}
}

func holderAt(p point.Name) target { return target{kind: purchaseTarget, point: p} }

// quorumNode is the name of the node that faults of a quorum hit. All five nodes of the quorum are alike.
const quorumNode = backend.NameRedlock + "-3"

// capabilityOf maps the name of a target's server to the backend that includes the server. Only strategies that use
// this backend can notice the fault. A server that is not in the map is used by every strategy.
var capabilityOf = map[string]backend.Capability{backend.NameRedis: backend.Redis, quorumNode: backend.RedisQuorum,
	backend.NameZooKeeper: backend.ZooKeeper, backend.NameEtcd: backend.Etcd}

// findLack returns the reason why a fault cannot hit the target in this lab; nil if a fault can.
func (t target) findLack(l *lab.Lab) *Lack {
	switch t.kind {
	case serverTarget:
		return findServerLack(l, t.server)
	case linkTarget:
		if lack := findServerLack(l, t.server); lack != nil || l.Link(1, t.server) != nil {
			return lack
		}
		return &Lack{LackLink, map[string]any{"name": t.server}, fmt.Sprintf("service processes of this lab reach %s "+
			"directly; seckill chaos starts a lab with links that can fail", t.server)}
	case leaderTarget:
		if l.Topology() == t.topology && l.FindEnsemble(t.server) != nil {
			return nil
		}
		return &Lack{LackTopology, map[string]any{"name": t.server, "topology": t.topology}, fmt.Sprintf(
			"the fault needs several servers of %s; start the lab with --topology %s", t.server, t.topology)}
	}
	return nil
}

// findServerLack returns the reason why faults cannot hit a server; nil if they can. The lab must have started exactly
// one server with this name. In a topology with several servers, the fault would hit only one of them, and most
// sales would not notice.
func findServerLack(l *lab.Lab, name string) *Lack {
	if _, err := l.Process(name); err == nil {
		return nil
	}
	params := map[string]any{"name": name}
	if kind, _, _ := strings.Cut(name, "-"); l.Config().Tiers[kind] == backend.Given {
		return &Lack{LackGiven, params, fmt.Sprintf("%s was given, and faults hit only servers that the lab has "+
			"started; start a lab without its address where the server is installed, as make demo does", name)}
	}
	return &Lack{LackServer, params, fmt.Sprintf("%s is not one server that the lab has started; "+
		"install it, and start the lab without its address, --embedded and --topology", name)}
}

// A strike is one injection of a fault.
type strike struct {
	lab *lab.Lab
	aim Aim

	process         *lab.Process  // the process that is hit; its mutex Harm is held during the injection
	servers         *lab.Ensemble // the servers to which a leaderTarget belongs
	link            *lab.Relay    // the link that the fault disturbs, if the target is a linkTarget
	releasePurchase func()        // releases the purchase that a purchaseTarget has stopped
	before          Effect        // the state just before the fault
}

// findProcess sets s.process to the process that is hit, and locks the mutex Harm of the process. If the fault waits
// for a purchase and no purchase reached the point, s.process stays nil and s.before.Why has the reason.
func (s *strike) findProcess(ctx context.Context, t target) error {
	var p *lab.Process
	var err error
	switch t.kind {
	case purchaseTarget:
		return s.awaitHolder(ctx, t.point)
	case serverTarget:
		p, err = s.lab.Process(t.server)
	case leaderTarget:
		s.servers = s.lab.FindEnsemble(t.server)
		p, err = s.servers.Leader(ctx)
	default:
		all := s.lab.ServiceProcesses()
		if s.aim.Service < 1 || s.aim.Service > len(all) {
			return fmt.Errorf("there is no service process %d: the lab runs %d", s.aim.Service, len(all))
		}
		p = all[s.aim.Service-1]
		s.link = s.lab.Link(s.aim.Service, t.server)
	}
	if err != nil {
		return err
	}
	p.Harm.Lock()
	if (t.kind == processTarget || t.kind == linkTarget) && !p.Alive() {
		p.Harm.Unlock()
		return fmt.Errorf("%s is dead already", p.Name)
	}
	s.process = p
	return nil
}

// pointsOf returns a client for the fault points of a service process (package point). At a point the process can
// stop a purchase between two of its commands.
func (s *strike) pointsOf(p *lab.Process) *point.Client {
	return &point.Client{URL: "http://" + p.Addr, Token: s.lab.Token()}
}

const stateTimeout = time.Second

// awaitPurchase returns the state of the service process with this number; 0 stands for all processes together. If
// units are left, it first waits up to stateTimeout until a purchase is under way.
func (s *strike) awaitPurchase(ctx context.Context, number int) Effect {
	var e Effect
	_ = lab.Await(ctx, stateTimeout, func(context.Context) error {
		// The context of Await ends after stateTimeout, perhaps during a read. So readState gets the outer context.
		e = s.readState(ctx, number)
		if e.InFlight == nil || *e.InFlight > 0 || e.UnitsLeft != nil && *e.UnitsLeft <= 0 {
			return nil
		}
		return errors.New("no purchase is under way")
	})
	return e
}

// readState asks the service process with this number for the units left and the number of purchases under way; 0
// stands for all processes together. Both figures are nil if a process does not answer.
func (s *strike) readState(ctx context.Context, number int) Effect {
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	e := Effect{Service: number}
	for i, p := range s.lab.ServiceProcesses() {
		if number > 0 && number != i+1 || !p.Alive() || p.Paused() {
			continue
		}
		state, err := s.pointsOf(p).State(ctx, s.aim.Strategy, s.aim.SKU)
		if err != nil {
			return Effect{Service: number}
		}
		if e.InFlight == nil {
			e.InFlight = new(int64)
		}
		*e.InFlight += state.InFlight
		e.UnitsLeft = state.Left
	}
	return e
}

const (
	// A purchase is held for Aim.For, but not shorter than minHold and not longer than maxHold. While it is held,
	// the fault must have time to stop its process.
	minHold = 500 * time.Millisecond
	maxHold = time.Minute
	// stockInterval is the time between two reads of the stock while a fault waits for a purchase.
	stockInterval = 500 * time.Millisecond
)

// An arrival is the result of the wait in one service process: a held purchase or an error.
type arrival struct {
	point.Catch
	process *lab.Process
	number  int
	release func()
	err     error
}

// awaitHolder waits until any service process holds a purchase at the point. If the stock is sold out first or ctx
// ends, awaitHolder returns nil, and s.before.Why has the reason.
func (s *strike) awaitHolder(ctx context.Context, at point.Name) error {
	s.before = Effect{At: at, Why: NotReached}
	err := errors.New("no service process is alive and well")
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	arrivals, open := s.holdPurchases(waiting, at)
	stock := time.NewTicker(stockInterval)
	defer stock.Stop()
	for soldOut := false; open > 0; {
		select {
		case a := <-arrivals:
			if a.err == nil {
				s.acceptArrival(context.WithoutCancel(ctx), a)
				return nil
			}
			err = fmt.Errorf("wait for a purchase in %s: %w", a.process.Name, a.err) // if the process died
			open--
		case <-stock.C:
			if soldOut { // The SKU was already sold out at the last check, so no buyer still takes the last unit.
				s.before.Why = NoUnits
				return nil
			}
			soldOut = s.isSoldOut(ctx)
		case <-ctx.Done():
			if s.isSoldOut(ctx) {
				s.before.Why = NoUnits
			}
			return nil
		}
	}
	return err
}

// holdPurchases asks every running service process to hold the next purchase at the point, until
// ctx ends. It returns the channel of the arrivals and the number of processes asked.
func (s *strike) holdPurchases(ctx context.Context, at point.Name) (<-chan arrival, int) {
	hold := maxHold
	if s.aim.For > 0 {
		hold = min(max(s.aim.For, minHold), maxHold)
	}
	order := point.Order{Point: at, Strategy: s.aim.Strategy, SKU: s.aim.SKU, For: int(hold.Milliseconds())}
	arrivals, asked := make(chan arrival), 0
	for i, p := range s.lab.ServiceProcesses() {
		if !p.Alive() || p.Paused() {
			continue
		}
		asked++
		go func() {
			caught, release, err := s.pointsOf(p).Hold(ctx, order)
			select {
			case arrivals <- arrival{caught, p, i + 1, release, err}:
			case <-ctx.Done(): // nobody waits for this purchase any more, so let it continue
				release()
			}
		}()
	}
	return arrivals, asked
}

// isSoldOut asks the service processes for the units left, even after ctx has ended.
func (s *strike) isSoldOut(ctx context.Context) bool {
	s.before.UnitsLeft = s.readState(context.WithoutCancel(ctx), 0).UnitsLeft
	return s.before.UnitsLeft != nil && *s.before.UnitsLeft <= 0
}

// acceptArrival makes the process of a held purchase the target of the fault. If no purchase is held, because the
// strategy writes without reading the stock, acceptArrival only sets s.before.Why to NoPoint.
func (s *strike) acceptArrival(ctx context.Context, a arrival) {
	if a.Holder == nil {
		a.release()
		s.before.Why = NoPoint
		return
	}
	at := s.before.At
	a.process.Harm.Lock()
	s.process, s.releasePurchase = a.process, a.release
	s.before = s.awaitPurchase(ctx, a.number)
	s.before.Holder, s.before.At = a.Holder, at
}
