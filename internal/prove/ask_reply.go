package prove

import (
	"context"

	"seckill/internal/explore"
)

var (
	_ = addQuestion(Question{
		column: 90, ID: "lost-reply", Title: "lost reply",
		Asks: "Any one command takes effect and its reply is lost, or it never arrives: is the stock right, and is no buyer blocked for ever?",
		ask: func(b *bench, ctx context.Context) (Cell, error) {
			return b.stands(ctx, "it breaks with every reply heard", func(processes int) (Cell, error) {
				lost := []explore.Fault{explore.ReplyLost, explore.CommandLost}
				more := b.shared(processes, explore.Buys, explore.Scenario{
					Name: "a shared transaction, a reply or a command is lost", Stock: 6, Faults: lost})
				return b.faulty(ctx, "lost-reply", notOverlap, append(more,
					&explore.Scenario{Name: "two buyers, a reply or a command is lost", Stock: 5, Next: true,
						Buyers: buyers(processes, explore.Buys, explore.Buys), Faults: lost})...)
			})
		},
	})
	_ = addQuestion(Question{
		column: 92, ID: "late-command", Title: "late command",
		Asks: "Any one command is delayed: its sender gets no answer, cleans up and leaves, and it arrives at any later moment. " +
			"Is the stock right?",
		ask: func(b *bench, ctx context.Context) (Cell, error) {
			return b.stands(ctx, "it breaks with every command in time", func(processes int) (Cell, error) {
				late := []explore.Fault{explore.Delayed}
				more := b.shared(processes, explore.Buys, explore.Scenario{
					Name: "a shared transaction, a command is late", Stock: 6, Faults: late})
				return b.faulty(ctx, "late-command", explore.LedgerRule, append(more,
					&explore.Scenario{Name: "two buyers, a command is late", Stock: 5, Next: true,
						Buyers: buyers(processes, explore.Buys, explore.Buys), Faults: late})...)
			})
		},
	})
)
