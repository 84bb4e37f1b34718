package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab"
	"seckill/internal/ledger"
	"seckill/internal/observe"
	"seckill/internal/probe"
)

// NodeLossQuestion is the question's ID. Its counterexamples are not replayed
// by the explorer, but by LoseNode.
const NodeLossQuestion = "node-loss"

// ensembleOf names the backend of which a strategy can lose a node, or says
// why there is none.
func ensembleOf(i catalog.Info) (name, whyNot string) {
	for _, name := range backend.NamesOf(i.Needs...) {
		if name != backend.NameMySQL {
			return name, ""
		}
	}
	if i.Locker != nil && !slices.Contains(i.Needs, backend.RowLocks) {
		return "", "the lock lives in one process: there is no node but itself"
	}
	return "", "its only server is the one that holds the stock: if that is lost, so is the stock"
}

// nodeLoss lets a node be lost while a buyer is inside, once for each role
// that nodes have.
func (b *bench) nodeLoss(ctx context.Context) (Cell, error) {
	name, whyNot := ensembleOf(b.info)
	if name != "" {
		processes, err := b.premise(ctx)
		if err != nil {
			return Cell{}, err
		}
		if processes == 0 {
			whyNot = "it breaks with every node alive"
		}
	}
	if whyNot != "" {
		return Cell{Answer: NotAsked, Text: whyNot}, nil
	}
	losses, err := b.losses(ctx, name)
	if errors.Is(err, lab.ErrNoServer) {
		return Cell{Answer: NotAsked, Text: err.Error()}, nil
	}
	if err != nil {
		return Cell{}, err
	}
	var seen []string
	for _, l := range losses {
		seen = append(seen, l.summary())
	}
	last := losses[len(losses)-1]
	if len(last.story.schedule.Problems) == 0 {
		return Cell{Answer: Holds, Text: strings.Join(seen, "; ")}, nil
	}
	p := last.story.schedule.Problems[0]
	c := Cell{Answer: Breaks, Rule: p.Rule, Text: last.loses() + ": " + p.Message}
	c.Example, err = b.options.Example(explore.NewExample(b.info.Name, NodeLossQuestion, &last.story.schedule))
	return c, err
}

// LoseNode asks the question of one strategy and tells the story of the loss
// that broke it, or of the last, if none did.
func LoseNode(ctx context.Context, info catalog.Info, servers Servers) (explore.Example, error) {
	name, whyNot := ensembleOf(info)
	if whyNot != "" {
		return explore.Example{}, fmt.Errorf("%s cannot lose a node: %s", info.Name, whyNot)
	}
	b := &bench{info: info, servers: servers}
	losses, err := b.losses(ctx, name)
	if err != nil {
		return explore.Example{}, err
	}
	return explore.NewExample(info.Name, NodeLossQuestion, &losses[len(losses)-1].story.schedule), nil
}

// losses go on until one breaks the strategy.
func (b *bench) losses(ctx context.Context, name string) (list []*loss, err error) {
	e, err := b.servers.Ensemble(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, role := range e.Roles {
		l := &loss{bench: b, ensemble: e, name: name, role: role}
		if err := l.play(ctx); err != nil {
			return nil, fmt.Errorf("lose %s of %s: %w", role, name, err)
		}
		if list = append(list, l); len(l.story.schedule.Problems) > 0 {
			break
		}
	}
	return list, nil
}

// Times of a loss. No lease ends meanwhile, and none is renewed between the
// loss and the next buyer's purchase: an answer must not depend on how fast
// this machine is.
const (
	lossLease   = 12 * time.Second
	lossSession = 9 * time.Second
	lossWait    = 40 * time.Second
	// A goes on when B is through, or has waited for so long; and when B gets
	// no answer at all.
	lossQuiet    = 600 * time.Millisecond
	lossPatience = 10 * time.Second
)

// Stock and quantities: A takes two of three, B and the next one each. Served
// one at a time, two of them get what they want. When B reads what A read, A
// writes over that sale, and the next sale is one too many.
const lossStock = 3

var lossBuyers = []explore.Buyer{
	{Name: "A", Process: 0, Quantity: 2, Does: explore.Buys},
	{Name: "B", Process: 1, Quantity: 1, Does: explore.Buys},
	{Name: explore.NextBuyer, Process: 2, Quantity: 1, Does: explore.Buys},
}

// A loss is one node lost while buyer A is inside. B comes when it is lost, the
// next one when both have left; each in a process that lives through the loss.
type loss struct {
	bench    *bench
	ensemble *lab.Ensemble
	name     string // of the backend
	role     string
	story    *story
	outage   time.Duration // until the servers answered B
	next     time.Duration // that the next buyer needed
	told     error         // what A was told
}

func (l *loss) play(ctx context.Context) error {
	give, err := l.ensemble.Take(ctx)
	if err != nil {
		return err
	}
	defer give()
	lost, err := l.ensemble.Node(ctx, l.role)
	if err != nil {
		return err
	}
	l.story = newStory(lastMeasuredSKU.Add(1), &explore.Scenario{Name: l.loses() + ", while A is inside", Stock: lossStock,
		Buyers: slices.DeleteFunc(slices.Clone(lossBuyers), func(b explore.Buyer) bool { return b.Name == explore.NextBuyer }),
		Faults: []explore.Fault{explore.NodeLost}, MaxFaults: 1, Next: true})
	var all []*shopper
	for _, b := range lossBuyers {
		s, err := l.enter(ctx, b, lost)
		if err != nil {
			return err
		}
		defer s.in.Close()
		all = append(all, s)
	}
	run, err := all[0].sell(ctx, l.story.sku, lossStock)
	if err != nil {
		return err
	}
	key := probe.Key(l.bench.info, l.story.sku)
	if lost, err = l.ensemble.NodeWith(ctx, l.role, key, fmt.Sprint(":", l.story.sku)); err != nil {
		return err
	}
	if err := l.shop(ctx, lost, all[0], all[1], all[2]); err != nil {
		return err
	}
	return l.judge(ctx, run, all)
}

// lostNode is what is lost with a role.
var lostNode = map[string]string{lab.Primary: "the primary", lab.AnyOne: "one of five", lab.Leader: "the leader of three", lab.Follower: "a follower of three"}

// describe says what is lost, and what with it.
func (l *loss) describe() (what, with string) {
	if l.role == lab.Primary {
		with = " with what it had not replicated"
	}
	return lostNode[l.role], with
}

// loses is describe as a sentence.
func (l *loss) loses() string {
	what, with := l.describe()
	return what + " is lost" + with
}

// enter starts a process for one buyer. Its clients try the node that will be
// lost before any other.
func (l *loss) enter(ctx context.Context, b explore.Buyer, lost *lab.Process) (*shopper, error) {
	info := observe.Locks(l.bench.info, nil)
	settings := realSettings()
	settings.LockLease, settings.LockWait = lossLease, lossWait
	p, err := openParty(ctx, info, l.config(lost), settings, lossSession)
	if err != nil {
		return nil, err
	}
	return newShopper(b, p, l.story, b.Name == lossBuyers[0].Name), nil
}

func (l *loss) config(first *lab.Process) backend.Config {
	return l.ensemble.Config(l.bench.servers.Config().Only(l.bench.info.Uses()...), first)
}

// shop has the buyers come in turn; those before come and leave before the loss.
func (l *loss) shop(ctx context.Context, lost *lab.Process, a, b, next *shopper) error {
	if err := l.ensemble.Lag(ctx); err != nil {
		return err
	}
	defer func() { a.Open(); <-a.done }()
	go a.goShopping(ctx, lossWait)
	select {
	case <-a.Reached:
	case <-a.done:
		return fmt.Errorf("buyer A never came to a write: %w", a.outcome.Err)
	}
	l.look(ctx)

	begun := l.story.Now()
	what, with := l.describe()
	l.story.mark(mark{step: explore.Step{Choice: explore.Choice{Fault: explore.NodeLost}, Command: what + with}})
	if err := l.ensemble.Lose(ctx, lost); err != nil {
		return err
	}
	l.look(ctx)
	go b.goShopping(ctx, lossWait)
	b.settle(lossQuiet, lossPatience)
	a.Open()
	<-a.done
	<-b.done
	l.look(ctx)
	next.goShopping(ctx, lossWait)
	l.look(ctx)
	l.outage, l.next, l.told = b.took, next.took, a.outcome.Err
	if _, heard := b.progress(); heard > 0 {
		l.outage = heard - begun
	}
	l.story.tell()
	return ctx.Err()
}

// look shows what Redis keeps after the last step. Servers that vote may be
// doing so at this moment.
func (l *loss) look(ctx context.Context) {
	if l.name != backend.NameRedis {
		return
	}
	in, err := backend.Open(ctx, l.config(nil))
	if err != nil {
		return
	}
	defer in.Close()
	if probes, err := probe.Of(ctx, in, l.bench.info); err == nil {
		l.story.look(probes.Look(ctx, probe.Key(l.bench.info, l.story.sku), l.story.sku))
	}
}

// judge says what was wrong with the stock, the holders, and the buyers who got
// through.
func (l *loss) judge(ctx context.Context, run int64, all []*shopper) error {
	last := all[slices.IndexFunc(all, func(s *shopper) bool { return s.Name == explore.NextBuyer })]
	sellers := []catalog.Seller{{Info: l.bench.info, Strategy: last.strategy}}
	snap, err := catalog.Snapshot(ctx, last.store, l.story.sku, sellers)
	if err != nil {
		return fmt.Errorf("audit the sale: %w", err)
	}
	o := &l.story.schedule
	told := []ledger.Told{}
	for _, s := range all {
		o.Buyers = append(o.Buyers, s.outcome)
		told = append(told, explore.Tell(s.purchase(), s.outcome))
	}
	o.Audit = ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: o.Scenario.Stock, Run: run,
		StockStoreOf: catalog.StockStoreOf(sellers), Told: told})
	for _, v := range o.Audit.Violations {
		o.Problems = append(o.Problems, explore.Problem{Rule: v.Rule, Message: v.Message})
	}
	for _, v := range o.Overlaps {
		o.Problems = append(o.Problems, explore.Problem{Rule: explore.RuleOverlap,
			Message: fmt.Sprintf("%s gets the lock while %s has it", v.Second, v.First)})
	}
	for _, s := range all[1:] {
		if !s.served() {
			o.Problems = append(o.Problems, explore.Problem{Rule: explore.RuleStuck,
				Message: fmt.Sprintf("%s is still told after %.0f s: %v", s.Name, s.took.Seconds(), s.outcome.Err)})
		}
	}
	return nil
}

// summary of a loss that broke nothing.
func (l *loss) summary() string {
	text := fmt.Sprintf("%s: the next is answered within %g s", l.loses(), within(max(l.outage, l.next).Seconds()))
	if l.told != nil {
		text += ", and who was inside is told: " + l.told.Error()
	}
	return text
}
