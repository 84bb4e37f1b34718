package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/fault"
	"seckill/internal/ledger"
)

// A Question is a column of the matrix.
type Question struct {
	ID     string         `json:"id"`
	Title  string         `json:"title"`
	Asks   string         `json:"asks"`
	Letter catalog.Letter `json:"letter,omitempty"` // the guarantee that it decides

	ask func(*bench, context.Context) (Cell, error)
}

// Questions are all columns, in order.
func Questions() []Question {
	return []Question{
		{"oversell", "no oversell", "Two buyers in one process, all orders of their commands: is ever more sold than there was?", catalog.S, (*bench).oversell},
		{"lost-update", "no lost update", "The same, and a buyer who cancels: do stock and orders agree in the end, and does every buyer get through?", catalog.S, (*bench).lostUpdate},
		{"processes", "across processes", "The same with the buyers in two processes.", catalog.M, (*bench).processes},
		{"dead-holder", "dead holder", "A buyer's process dies before any of its commands: is the stock right, and do the others get through, how long after the death?", catalog.C, (*bench).deadHolder},
		{"hung-holder", "hung holder", "A holder of the lock hangs for longer than a lease while its renewer, session and connections live: does the next get the lock?", "", (*bench).hungHolder},
		{"lease-end", "lease ends under a holder", "The lease (or session, or connection) ends at any moment while its holder is paused: is the stock right?", catalog.P, (*bench).leaseEnd},
		{"clocks", "clocks disagree", "The clock of the second buyer's process is ahead by more than a lease: is the stock right?", "", (*bench).clocks},
		{"owner", "only the owner releases", "Three contenders, a lease that ends at any moment: does a release ever free the lock of another?", catalog.O, (*bench).owner},
		{"lost-reply", "lost reply", "Any one command takes effect and its reply is lost, or it never arrives: is the stock right, and is no buyer blocked for ever?", "", (*bench).lostReply},
		{"history", "linearizable", "A storm over two processes: is there an order of the purchases, one at a time, that explains every answer?", "", (*bench).history},
		{"other-skus", "other SKUs unhindered", "Two buyers of different SKUs: does one ever wait for the other?", catalog.I, (*bench).otherSKUs},
		{"waits", "how it waits", "What a buyer does while another holds the lock, and how many commands that costs in 300 ms.", "", (*bench).waits},
		{"order", "first come first served", "Six buyers come one after another while a seventh holds the lock: do they get it in that order?", "", (*bench).order},
		{"reentrant", "reentrant", "Does the holder get the lock again when it passes its lease's context on?", "", (*bench).reentrant},
		{"node-loss", "loss of one node", "One server of the lock's backend is lost while the lock is held.", catalog.N, (*bench).nodeLoss},
	}
}

func choose(ids []string) ([]Question, error) {
	all := Questions()
	if ids == nil {
		return all, nil
	}
	var chosen []Question
	for _, q := range all {
		if slices.Contains(ids, q.ID) {
			chosen = append(chosen, q)
		}
	}
	for _, id := range ids {
		if !slices.ContainsFunc(all, func(q Question) bool { return q.ID == id }) {
			var names []string
			for _, q := range all {
				names = append(names, q.ID)
			}
			return nil, fmt.Errorf("there is no question %q, only %s", id, strings.Join(names, ", "))
		}
	}
	return chosen, nil
}

// Buyers of the scenarios. Their quantities differ: writing an equal value
// twice would hide a lost update.
func buyers(processes int, does ...explore.Does) []explore.Buyer {
	list := make([]explore.Buyer, len(does))
	for i, d := range does {
		list[i] = explore.Buyer{Name: string(rune('A' + i)), Quantity: int64(2 - i%2), Does: d}
		if processes > 1 {
			list[i].Process = i
		}
	}
	return list
}

func faultless(processes int) []*explore.Scenario {
	where := map[int]string{1: "one process", 2: "two processes"}[processes]
	return []*explore.Scenario{
		{Name: "two buyers, enough for one, " + where, Stock: 2, Next: true,
			Buyers: buyers(processes, explore.Buys, explore.Buys)},
		{Name: "two buyers, enough for both, " + where, Stock: 5, Next: true,
			Buyers: buyers(processes, explore.Buys, explore.Buys)},
		{Name: "one buys, one cancels, " + where, Stock: 4, Next: true,
			Buyers: buyers(processes, explore.Buys, explore.Cancels)},
	}
}

// soundness is what the searches without faults found.
type soundness struct {
	cell Cell                         // their bounds, added up
	by   map[string]*explore.Schedule // the first broken order of each rule
}

// sound explores what happens without any fault, once for a bench.
func (b *bench) sound(ctx context.Context, processes int) (*soundness, error) {
	cache := &b.plain
	if processes > 1 {
		cache = &b.spread
	}
	if *cache != nil {
		return *cache, nil
	}
	w, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	s := &soundness{cell: Cell{Answer: Holds, Preemptions: -1}, by: map[string]*explore.Schedule{}}
	for _, scenario := range faultless(processes) {
		res, err := w.Search(ctx, scenario, explore.Limits{Preemptions: -1, All: true, Time: b.options.Budget})
		if err != nil {
			return nil, err
		}
		s.cell.add(res)
		for rule, o := range res.Rules {
			if s.by[rule] == nil {
				s.by[rule] = o
			}
		}
	}
	*cache = s
	return s, nil
}

var oversellRules = []string{ledger.RuleOversold, ledger.RuleNegative}

func (b *bench) oversell(ctx context.Context) (Cell, error) {
	s, err := b.sound(ctx, 1)
	if err != nil {
		return Cell{}, err
	}
	return b.verdict(ctx, "oversell", s, func(rule string) bool { return slices.Contains(oversellRules, rule) })
}

func (b *bench) lostUpdate(ctx context.Context) (Cell, error) {
	s, err := b.sound(ctx, 1)
	if err != nil {
		return Cell{}, err
	}
	return b.verdict(ctx, "lost-update", s, func(rule string) bool {
		return !slices.Contains(oversellRules, rule) && rule != explore.RuleOverlap
	})
}

func (b *bench) processes(ctx context.Context) (Cell, error) {
	s, err := b.sound(ctx, 2)
	if err != nil {
		return Cell{}, err
	}
	return b.verdict(ctx, "processes", s, func(rule string) bool { return rule != explore.RuleOverlap })
}

// verdict breaks when one of the rules was broken, with the shortest order
// that shows it.
func (b *bench) verdict(ctx context.Context, question string, s *soundness, counts func(rule string) bool) (Cell, error) {
	c := s.cell
	// What the ledger shows says more than that somebody was left waiting.
	for _, counts := range []func(string) bool{
		func(rule string) bool { return counts(rule) && ledgerRule(rule) }, counts,
	} {
		var first *explore.Schedule
		for rule, o := range s.by {
			if counts(rule) && (first == nil || shorter(o, first)) {
				first = o
			}
		}
		if first != nil {
			return b.broken(ctx, question, c, first, counts)
		}
	}
	return c, nil
}

func shorter(a, b *explore.Schedule) bool {
	return a.Preemptions < b.Preemptions || a.Preemptions == b.Preemptions && len(a.Steps) < len(b.Steps)
}

func ledgerRule(rule string) bool {
	return !slices.Contains([]string{explore.RuleOverlap, explore.RuleUnknown, explore.RuleStuck, explore.RuleError,
		explore.RuleHindered, explore.RuleStolen}, rule)
}

// broken keeps a counterexample.
func (b *bench) broken(ctx context.Context, question string, c Cell, o *explore.Schedule, counts func(string) bool) (Cell, error) {
	w, err := b.open(ctx)
	if err != nil {
		return c, err
	}
	shown, err := w.Shorten(ctx, o, counts)
	if err != nil {
		return c, fmt.Errorf("replay the counterexample: %w", err)
	}
	c.Answer = Breaks
	i := slices.IndexFunc(shown.Problems, func(p explore.Problem) bool { return counts(p.Rule) })
	if i < 0 {
		return c, fmt.Errorf("an order broke a rule once and not again: %+v; its choices were %v", o.Problems, o.Choices())
	}
	c.Rule, c.Text = shown.Problems[i].Rule, shown.Problems[i].Message
	c.Example, err = b.options.Example(explore.NewExample(b.info.Name, question, shown))
	return c, err
}

// faulty searches scenarios in which things go wrong: all orders with at most
// two preemptions and one fault, in the time that there is, then some random
// ones. It stops at the first that breaks.
func (b *bench) faulty(
	ctx context.Context, question string, counts func(string) bool, scenarios ...*explore.Scenario,
) (Cell, error) {
	w, err := b.open(ctx)
	if err != nil {
		return Cell{}, err
	}
	const preemptions = 2
	c := Cell{Answer: Holds, Preemptions: preemptions}
	for _, s := range scenarios {
		s.MaxFaults = 1
		res, err := w.Search(ctx, s, explore.Limits{Preemptions: preemptions, Time: b.options.Budget,
			Random: b.options.Seed, RandomTime: b.options.Budget / 4, Stop: counts})
		if err != nil {
			return c, err
		}
		c.add(res)
		if res.First != nil {
			return b.broken(ctx, question, c, res.First, counts)
		}
		if res.Faulty == 0 {
			c.Answer, c.Text = NotAsked, "there is nothing that could end or be lost"
		}
	}
	return c, nil
}

func anyRule(string) bool { return true }

// notOverlap leaves two holders out: the question is whether the stock is right.
func notOverlap(rule string) bool { return rule != explore.RuleOverlap && rule != explore.RuleStolen }

func (b *bench) deadHolder(ctx context.Context) (Cell, error) {
	if b.info.Guarantees[catalog.S] == catalog.Breaks {
		return Cell{Answer: NotAsked, Text: "it breaks with every buyer alive"}, nil
	}
	if inProcess(b.info) {
		return Cell{Answer: NotAsked, Text: "a dead process takes the lock with it; across processes it locks nothing"}, nil
	}
	c, err := b.faulty(ctx, "dead-holder", anyRule, &explore.Scenario{Name: "two buyers, one may die", Stock: 5, Next: true,
		Buyers: buyers(2, explore.Buys, explore.Buys), Faults: []explore.Fault{fault.Dies}})
	if err != nil || c.Answer != Holds {
		return c, err
	}
	if b.info.Locker != nil {
		contenders := buyers(3, explore.Locks, explore.Locks, explore.Locks)
		three, err := b.faulty(ctx, "dead-holder", anyRule,
			&explore.Scenario{Name: "two contenders find what a third has left behind who died", Buyers: contenders, DiesFirst: true},
			&explore.Scenario{Name: "one has the lock, two wait for it, one may die", Buyers: contenders, InLine: true,
				Faults: []explore.Fault{fault.Dies}})
		if err != nil || three.Answer == Breaks {
			return three, err
		}
		c.Orders += three.Orders
		c.Random += three.Random
	}
	return b.timeAfterDeath(ctx, c)
}

// inProcess: the lock lives in memory.
func inProcess(i catalog.Info) bool { return i.Family == "local" }

// hasLease: something in the servers can end under its holder. A transaction
// that holds a row ends with its connection.
func hasLease(i catalog.Info) bool {
	return i.Locker != nil && !inProcess(i) || slices.Contains(i.Needs, backend.RowLocks) || i.Guarantees[catalog.P] != ""
}

func (b *bench) leaseEnd(ctx context.Context) (Cell, error) {
	switch {
	case b.info.Guarantees[catalog.S] == catalog.Breaks:
		return Cell{Answer: NotAsked, Text: "it breaks with every lease alive"}, nil
	case !hasLease(b.info):
		return Cell{Answer: NotAsked, Text: "it holds nothing between two commands that could end"}, nil
	}
	return b.faulty(ctx, "lease-end", notOverlap, &explore.Scenario{Name: "two buyers, the holder's lease ends", Stock: 2, Next: true,
		Buyers: buyers(2, explore.Buys, explore.Buys), Faults: []explore.Fault{fault.LeaseEnds}},
		&explore.Scenario{Name: "two buyers, enough for both, the holder's lease ends", Stock: 5, Next: true,
			Buyers: buyers(2, explore.Buys, explore.Buys), Faults: []explore.Fault{fault.LeaseEnds}})
}

func (b *bench) clocks(ctx context.Context) (Cell, error) {
	if b.info.Guarantees[catalog.M] == catalog.Breaks {
		return Cell{Answer: NotAsked, Text: "it breaks across processes whatever their clocks say"}, nil
	}
	w, err := b.open(ctx)
	if err != nil {
		return Cell{}, err
	}
	two := buyers(2, explore.Buys, explore.Buys)
	two[1].Ahead = w.Lease() + time.Second
	c := Cell{Answer: Holds, Preemptions: -1}
	res, err := w.Search(ctx, &explore.Scenario{Name: "two buyers, the second one's clock is ahead by more than a lease",
		Stock: 2, Buyers: two}, explore.Limits{Preemptions: -1, Time: b.options.Budget, Stop: ledgerRule})
	if err != nil {
		return c, err
	}
	c.add(res)
	switch {
	case !w.AsksTime():
		return Cell{Answer: NotAsked, Text: "it asks no clock of its own"}, nil
	case res.First != nil:
		return b.broken(ctx, "clocks", c, res.First, ledgerRule)
	}
	return c, nil
}

func (b *bench) owner(ctx context.Context) (Cell, error) {
	if b.info.Locker == nil {
		return Cell{Answer: NotAsked, Text: "it is not a lock that could be released"}, nil
	}
	if s, err := b.sound(ctx, 1); err != nil || s.by[explore.RuleOverlap] != nil {
		return Cell{Answer: NotAsked, Text: "it excludes nobody in the first place"}, err
	}
	processes := 3
	if inProcess(b.info) {
		processes = 1
	}
	// Two show it where the victim is told at his release; where he is not, a
	// third gets in beside him.
	c, err := b.faulty(ctx, "owner", func(rule string) bool { return rule == explore.RuleOverlap || rule == explore.RuleStolen },
		&explore.Scenario{Name: "two contenders, the lock is lost under its holder", Clears: true,
			Buyers: buyers(processes, explore.Locks, explore.Locks), Faults: []explore.Fault{fault.LeaseEnds}},
		&explore.Scenario{Name: "one has the lock, two wait for it, and it is lost under its holder", Clears: true, InLine: true,
			Buyers: buyers(processes, explore.Locks, explore.Locks, explore.Locks), Faults: []explore.Fault{fault.LeaseEnds}})
	if err != nil || c.Answer == Breaks {
		return c, err
	}
	return b.releasedTwice(ctx, c)
}

func (b *bench) lostReply(ctx context.Context) (Cell, error) {
	if b.info.Guarantees[catalog.S] == catalog.Breaks {
		return Cell{Answer: NotAsked, Text: "it breaks with every reply heard"}, nil
	}
	processes := 2
	if inProcess(b.info) { // across processes it breaks with every reply heard
		processes = 1
	}
	return b.faulty(ctx, "lost-reply", notOverlap, &explore.Scenario{Name: "two buyers, a reply or a command is lost", Stock: 5, Next: true,
		Buyers: buyers(processes, explore.Buys, explore.Buys), Faults: []explore.Fault{fault.ReplyLost, fault.CommandLost}})
}

func (b *bench) otherSKUs(ctx context.Context) (Cell, error) {
	two := buyers(1, explore.Buys, explore.Buys)
	two[1].Other = true
	w, err := b.open(ctx)
	if err != nil {
		return Cell{}, err
	}
	hindered := func(rule string) bool { return rule == explore.RuleHindered }
	res, err := w.Search(ctx, &explore.Scenario{Name: "two buyers of different SKUs", Stock: 5, Buyers: two},
		explore.Limits{Preemptions: 2, Time: b.options.Budget, Stop: hindered})
	if err != nil {
		return Cell{}, err
	}
	c := Cell{Answer: Holds, Preemptions: 2}
	c.add(res)
	if res.First != nil {
		return b.broken(ctx, "other-skus", c, res.First, hindered)
	}
	return c, nil
}

// add adds a search's bounds to a cell.
func (c *Cell) add(r explore.Result) {
	c.Orders += r.Orders
	c.Random += r.Random
	c.Cut += r.Cut
	if r.Preemptions >= 0 && (c.Preemptions < 0 || r.Preemptions < c.Preemptions) {
		c.Preemptions = r.Preemptions
	}
}
