package prove

import (
	"context"

	"seckill/internal/explore"
)

var _ = addQuestion(Question{
	column: 94, ID: "renewal", Title: "renewers",
	Asks: "The lock's renewer acts at any moment, also when the lease has ended or a reply is lost: " +
		"does it ever take, keep or free a lock that is not its holder's?",
	ask: func(b *bench, ctx context.Context) (Cell, error) {
		if b.info.Locker == nil {
			return Cell{Answer: NotAsked, Text: "it is not a lock that could be renewed"}, nil
		}
		s, err := b.sound(ctx, 1)
		if err != nil || s.by[explore.RuleOverlap] != nil {
			return Cell{Answer: NotAsked, Text: "it excludes no one even without a fault"}, err
		}
		acts := func(r explore.Result) string {
			if r.Renewed == 0 {
				return "nothing renews it by commands of its own"
			}
			return ""
		}
		processes, err := b.premise(ctx)
		if err != nil {
			return Cell{}, err
		}
		two := buyers(processes, explore.Locks, explore.Locks)
		return b.search(ctx, "renewal", func(rule string) bool { return atTheLock(rule) || rule == explore.RuleStuck }, acts,
			&explore.Scenario{Name: "two contenders, renewers act", Renewals: 2, Next: true, Buyers: two},
			&explore.Scenario{Name: "two contenders, renewers act, and the lease ends or a reply is lost", InLine: true, Renewals: 1, MaxFaults: 1, Next: true,
				Buyers: two, Faults: []explore.Fault{explore.LeaseEnds, explore.ReplyLost, explore.CommandLost}})
	},
})
