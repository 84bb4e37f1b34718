package prove

import (
	"context"

	"seckill/internal/explore"
)

var (
	_ = addQuestion(Question{
		column: 10, ID: "oversell", Title: "no oversell",
		Asks: "Two buyers in one process, every schedule of their commands: is ever more sold than there was?",
		ask: func(b *bench, ctx context.Context) (Cell, error) {
			s, err := b.sound(ctx, 1)
			if err != nil {
				return Cell{}, err
			}
			return b.verdict(ctx, "oversell", s, isOversell)
		},
	})
	_ = addQuestion(Question{
		column: 20, ID: "lost-update", Title: "no lost update",
		Asks: "The same, and a buyer who cancels: do stock and orders agree in the end, and does every buyer get through?",
		ask: func(b *bench, ctx context.Context) (Cell, error) {
			s, err := b.sound(ctx, 1)
			if err != nil {
				return Cell{}, err
			}
			return b.verdict(ctx, "lost-update", s, func(rule string) bool { return !isOversell(rule) && rule != explore.RuleOverlap })
		},
	})
	_ = addQuestion(Question{
		column: 30, ID: "processes", Title: "across processes",
		Asks: "The same with the buyers in two processes.",
		ask: func(b *bench, ctx context.Context) (Cell, error) {
			s, err := b.sound(ctx, 2)
			if err != nil {
				return Cell{}, err
			}
			return b.verdict(ctx, "processes", s, func(rule string) bool { return rule != explore.RuleOverlap })
		},
	})
)
