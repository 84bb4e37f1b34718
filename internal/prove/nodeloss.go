package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab"
	"seckill/internal/seckill"
)

// NodeLossQuestion is the ID of the question about the loss of a node. LoseNode replays its counterexamples, because
// they need several servers.
const NodeLossQuestion = "node-loss"

// ensembleOf returns the name of the strategy's backend that can consist of several nodes. If the strategy has none,
// ensembleOf returns the reason instead.
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

// loseNodes stops a node while a buyer holds the lock. It does so once for each role that a node can have.
func loseNodes(ctx context.Context, t *trial) (Cell, error) {
	name, _ := ensembleOf(t.info)
	losses, err := t.searchNodeLoss(ctx, name, nil)
	if errors.Is(err, lab.ErrNoServer) {
		return notAsked(err.Error())
	}
	if err != nil {
		return Cell{}, err
	}
	var seen []string
	for _, l := range losses {
		seen = append(seen, fmt.Sprintf("%s: the next is answered within %g s", strings.TrimSuffix(l.Scenario.Name,
			whileLocked), roundSeconds(l.Outage.Seconds())))
	}
	last := losses[len(losses)-1]
	if len(last.Problems) == 0 {
		return Cell{Answer: Holds, Text: strings.Join(seen, "; ")}, nil
	}
	example, err := t.options.Example(t.info.Name, NodeLossQuestion, "", last)
	c := Cell{Answer: Breaks, Example: example}
	for i, p := range last.Problems {
		text := strings.TrimSuffix(last.Scenario.Name, whileLocked) + ": " + p.Message
		if i == 0 {
			c.Rule, c.Text = p.Rule, text
		} else if !c.Breaks(p.Rule) {
			c.Also = append(c.Also, Finding{p.Rule, text, example})
		}
	}
	return c, err
}

// LoseNode replays a counterexample of NodeLossQuestion.
func LoseNode(
	ctx context.Context, info catalog.Info, servers Servers, choices []explore.Choice,
) (*explore.Schedule, error) {
	name, whyNot := ensembleOf(info)
	if whyNot != "" {
		return nil, fmt.Errorf("%s cannot lose a node: %s", info.Name, whyNot)
	}
	t := &trial{info: info, servers: servers}
	losses, err := t.searchNodeLoss(ctx, name, choices)
	if err != nil {
		return nil, err
	}
	return losses[len(losses)-1], nil
}

// searchNodeLoss stops a node of each role, one after another, until the strategy breaks. It returns one schedule for
// each role that it has tried. If choices is not nil, it makes these choices in each schedule.
func (t *trial) searchNodeLoss(
	ctx context.Context, name string, choices []explore.Choice,
) (list []*explore.Schedule, err error) {
	e, err := t.servers.Losing.Ensemble(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, role := range e.Roles {
		s, err := t.loseNode(ctx, e, role, choices)
		if err != nil {
			return nil, fmt.Errorf("lose %s of %s: %w", role, name, err)
		}
		if list = append(list, s); len(s.Problems) > 0 {
			break
		}
	}
	return list, nil
}

// lostNode has two texts for each role: the name of the lost node, and the data that are lost with it.
var lostNode = map[string][2]string{
	lab.Primary: {"the primary", " with what it had not replicated"}, lab.AnyOne: {"one of five"},
	lab.Leader: {"the leader of three"}, lab.Follower: {"a follower of three"},
}

const whileLocked = ", while A is inside"

// loseNode stops a node while buyer A holds the lock. B continues when the node is lost, and a third buyer,
// NextBuyer, starts when both are done. There are three units. A wants two, and B and NextBuyer want one
// each. If one buyer is served after the other, two of the three get their units. If B reads the same stock as A, A
// overwrites B's sale, and NextBuyer is sold one unit too many.
func (t *trial) loseNode(
	ctx context.Context, e *lab.Ensemble, role string, choices []explore.Choice,
) (*explore.Schedule, error) {
	give, err := e.Reserve(ctx)
	if err != nil {
		return nil, err
	}
	defer give()
	lost, err := e.FindNode(ctx, role)
	if err != nil {
		return nil, err
	}
	what, with := lostNode[role][0], lostNode[role][1]
	// With this configuration, clients connect to the node that will be lost, and try the other nodes only after it.
	w, err := explore.Open(ctx, t.info, e.Config(t.config(), lost),
		explore.Options{Node: &explore.Node{
			Name: what + with, Lag: e.StopReplication,
			Lose: func(ctx context.Context) error { return e.KillNode(ctx, lost) }}})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	s, err := w.Replay(ctx, &explore.Scenario{Name: what + " is lost" + with + whileLocked, Stock: 3, Next: true,
		Buyers: newBuyers(2, explore.Buys, explore.Buys),
		Faults: []explore.Fault{explore.NodeLost}, MaxFaults: 1}, choices)
	if err != nil {
		return nil, err
	}
	if !s.Faulty() {
		return nil, fmt.Errorf("buyer A never came to a write: %w", s.Buyers[0].Err)
	}
	for _, o := range s.Buyers[1:] {
		if !isServed(o) {
			s.Problems = append(s.Problems, explore.Problem{Rule: explore.RuleStuck,
				Message: fmt.Sprintf("%s is told: %v", o.Name, o.Err)})
		}
	}
	return s, nil
}

// isServed reports whether a buyer got a unit or the answer "sold out". The answers "busy" and "conflict" also
// count, but not for NextBuyer, because no other buyer runs at the same time as NextBuyer.
func isServed(o explore.Outcome) bool {
	again := o.Name != explore.NextBuyer && (errors.Is(o.Err, seckill.ErrBusy) || errors.Is(o.Err, seckill.ErrConflict))
	return o.Err == nil || errors.Is(o.Err, seckill.ErrSoldOut) || again
}
