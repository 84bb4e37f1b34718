package prove

import (
	"context"

	"seckill/internal/explore"
)

// survived are the faults that a strategy survives, by the questions that asked.
var survived = []struct {
	question string
	faults   []explore.Fault
}{
	{"dead-holder", []explore.Fault{explore.Dies}},
	{"lease-end", []explore.Fault{explore.LeaseEnds}},
	{"lost-reply", []explore.Fault{explore.ReplyLost, explore.CommandLost}},
	{"late-command", []explore.Fault{explore.Delayed}},
}

var _ = addQuestion(Question{
	column: 102, ID: "two-faults", Title: "two faults",
	Asks: "Two of the faults that it survives one at a time, in schedules drawn at random: is the stock right?",
	ask: func(b *bench, ctx context.Context) (Cell, error) {
		return b.stands(ctx, "it breaks without a fault", func(processes int) (Cell, error) {
			var faults []explore.Fault
			for _, s := range survived {
				c, asked := b.cells[s.question]
				if !asked {
					q, err := choose([]string{s.question})
					if err != nil {
						return Cell{}, err
					}
					if c, err = q[0].ask(b, ctx); err != nil {
						return c, err
					}
				}
				if c.Answer == Holds {
					faults = append(faults, s.faults...)
				}
			}
			if len(faults) == 0 {
				return Cell{Answer: NotAsked, Text: "it survives no single fault"}, nil
			}
			return b.sampled(ctx, processes, faults)
		})
	},
})

// sampled draws schedules with two faults at random.
func (b *bench) sampled(ctx context.Context, processes int, faults []explore.Fault) (Cell, error) {
	w, err := b.open(ctx)
	if err != nil {
		return Cell{}, err
	}
	c := Cell{Answer: Holds}
	for _, does := range [][]explore.Does{{explore.Buys, explore.Buys}, {explore.Buys, explore.Cancels}} {
		s := &explore.Scenario{Name: "two actors, two faults", Stock: 5, Next: true, Buyers: buyers(processes, does...), Faults: faults, MaxFaults: 2}
		l := b.limits(wrongStock)
		l.Schedules, l.Random = 1, max(b.options.Schedules/2, 1)
		res, err := w.Search(ctx, s, l)
		if err != nil {
			return c, err
		}
		c.add(res)
		if res.First != nil {
			return b.broken(ctx, "two-faults", c, res.First, wrongStock)
		}
	}
	return c, nil
}
