package prove

import (
	"context"

	"seckill/internal/explore"
)

// Questions that are more than a search in scenarios.

func notAsked(why string) (Cell, error) { return Cell{Answer: NotAsked, Text: why}, nil }

// withoutFault asks what the searches without faults found.
func withoutFault(question string, processes int, counts func(rule string) bool) func(*bench, context.Context, int) (Cell, error) {
	return func(b *bench, ctx context.Context, _ int) (Cell, error) {
		s, err := b.sound(ctx, processes)
		if err != nil {
			return Cell{}, err
		}
		return b.verdict(ctx, question, s, counts)
	}
}

// survived are the faults that a strategy survives, by the questions that asked.
var survived = []struct {
	question string
	faults   []explore.Fault
}{{"dead-holder", dies}, {"lease-end", ends}, {"lost-reply", lost}, {"late-command", late}}

// twoFaults draws schedules with two faults at random.
func (b *bench) twoFaults(ctx context.Context, processes int) (Cell, error) {
	var faults []explore.Fault
	for _, s := range survived {
		c, asked := b.cells[s.question]
		if !asked {
			q, err := choose([]string{s.question})
			if err == nil {
				c, err = b.answer(ctx, q[0])
			}
			if err != nil {
				return c, err
			}
		}
		if c.Answer == Holds {
			faults = append(faults, s.faults...)
		}
	}
	if len(faults) == 0 {
		return notAsked("it survives no single fault")
	}
	c := Cell{Answer: Holds}
	for _, second := range []explore.Does{explore.Buys, explore.Cancels} {
		s := &explore.Scenario{Name: "two actors, two faults", Stock: 5, Next: true, Buyers: buyers(processes, explore.Buys, second), Faults: faults, MaxFaults: 2}
		l := b.limits(wrongStock)
		l.Schedules, l.Random = 1, max(b.options.Schedules/2, 1)
		res, err := b.world.Search(ctx, s, l)
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
