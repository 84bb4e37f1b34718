package fault

import (
	"context"
	"fmt"
	"time"
)

// JumpClock: the clock of one service process jumps ahead by more than a lease, as
// a wrong time server sets it, and later back. Servers' clocks stay as they are.
const JumpClock Name = "jump_clock"

// jump is longer than any lease of a lab.
const jump = 10 * time.Minute

var jumpClock = Fault{Name: JumpClock, Question: clocks, Lasts: true, missing: noPoints,
	Describe: "the clock of a service process jumps ahead by ten minutes",
	inject: atService(func(ctx context.Context, p Process, seen Effect) (*Injection, error) {
		run, begun := p.Run(), time.Now()
		said, err := p.Points().Jump(ctx, jump)
		if err != nil {
			return nil, fmt.Errorf("set the clock of %s: %w", p.Title(), err)
		}
		seen.Took = time.Until(said.Now) > jump/2
		seen.weigh()
		return &Injection{seen, func(ctx context.Context, e *Effect) error {
			p.Lock()
			defer p.Unlock()
			if p.Run() != run || !p.Alive() {
				e.Took, e.Matters, e.Why = false, false, WentOn
				return nil
			}
			said, err := p.Points().Jump(ctx, 0)
			if err == nil && said.Looks == 0 {
				e.Matters, e.Why = false, NoLook
			}
			e.Stood = int(time.Since(begun).Milliseconds())
			return err
		}}, nil
	})}
