package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/explore"
	"seckill/internal/observe"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A story is what several buyers did in real time, in the order in which they
// did it, and who had the lock meanwhile.
type story struct {
	*observe.Recorder
	sku      int64
	schedule explore.Schedule
	marks    []mark
}

// A mark is what happened, or what the servers were seen to keep, after so many
// commands.
type mark struct {
	sent   int
	step   explore.Step // a fault; else it is a look
	values []explore.Value
}

func newStory(sku int64, s *explore.Scenario) *story {
	return &story{Recorder: observe.NewRecorder(observe.NewNames(sku), 0), sku: sku, schedule: explore.Schedule{Scenario: s}}
}

func (s *story) mark(m mark) {
	sent, _ := s.List()
	m.sent = len(sent)
	s.marks = append(s.marks, m)
}

// look notes what the servers keep.
func (s *story) look(values []explore.Value) {
	for i, v := range values {
		values[i] = explore.Value{Name: s.Plain(v.Name), Value: s.Plain(v.Value)}
	}
	s.mark(mark{values: values})
}

// storyLimit bounds the steps of a polling buyer.
const storyLimit = 200

// tell makes the schedule of what was recorded. What a buyer repeats is one step.
func (s *story) tell() {
	o := &s.schedule
	sent, _ := s.List()
	said := map[string]string{}
	for n := range len(sent) + 1 {
		for _, m := range s.marks {
			switch {
			case m.sent != n:
			case m.step.Fault != "":
				o.Steps = append(o.Steps, m.step)
			case len(o.Steps) > 0:
				o.Steps[len(o.Steps)-1].Values = m.values
			}
		}
		for _, h := range s.Held() {
			for _, other := range h.Beside {
				if h.Sent == n {
					o.Overlaps = append(o.Overlaps, explore.Overlap{Step: len(o.Steps) - 1, First: other, Second: h.Who})
				}
			}
		}
		if n == len(sent) {
			return
		}
		c := sent[n]
		step := explore.Step{Choice: explore.Choice{Who: c.Who}, Backend: c.Command.Backend, Command: c.Text, Reply: c.Reply}
		if c.Renewer {
			step.Command = "(renewer) " + step.Command
		}
		if c.Err != nil && !answers(c) {
			step.Result = s.Plain(c.Err.Error())
		}
		if c.Command.Name != "back-off" && said[c.Who] != step.Command && len(o.Steps) < storyLimit {
			said[c.Who] = step.Command
			o.Steps = append(o.Steps, step)
		}
	}
}

// answers: a server has answered; "there is no such key" is an answer.
func answers(c observe.Sent) bool { return c.Done && (c.Err == nil || errors.Is(c.Err, redis.Nil)) }

// A shopper is a buyer in a story. One who is held stands before their first write to
// the database until the gate is opened.
type shopper struct {
	explore.Buyer
	*party
	*observe.Gate
	story   *story
	done    chan struct{} // closed when outcome is known
	outcome explore.Outcome
	took    time.Duration
}

func newShopper(b explore.Buyer, p *party, s *story, held bool) *shopper {
	at := func(_ int, c *tap.Command) bool {
		return held && c.Backend == tap.SQL && (c.Name == "INSERT" || c.Name == "UPDATE")
	}
	return &shopper{Buyer: b, party: p, Gate: observe.NewGate(s.Recorder, b.Name, at), story: s, done: make(chan struct{})}
}

// progress is when they last sent what they had not sent before, or had its answer;
// and when a server other than the database first answered them, 0 if none has.
func (s *shopper) progress() (newest, heard time.Duration) {
	sent, _ := s.List()
	known := map[string]bool{}
	for _, c := range sent {
		if c.Who != s.Name || c.Command.Name == "back-off" {
			continue
		}
		answered, what := c.At+c.Took, fmt.Sprint(c.Renewer, c.Text)
		switch {
		case known[what]:
		case c.Done:
			newest = max(newest, answered)
		default:
			newest = max(newest, c.At)
		}
		known[what] = true
		if answers(c) && c.Command.Backend != tap.SQL && c.Command.Backend != tap.Waiting && (heard == 0 || answered < heard) {
			heard = answered
		}
	}
	return newest, heard
}

// settle returns when the shopper is through, or has been answered and then, for
// quiet, only waited or asked again what they had asked before; and when their
// patience is at an end.
func (s *shopper) settle(quiet, patience time.Duration) {
	end := time.After(patience)
	look := time.NewTicker(quiet / 20)
	defer look.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-end:
			return
		case <-look.C:
		}
		if newest, heard := s.progress(); heard > 0 && s.Now()-newest > quiet {
			return
		}
	}
}

func (s *shopper) purchase() seckill.Purchase {
	return seckill.Purchase{SKU: s.story.sku, User: int64(s.Process + 1), Quantity: s.Quantity,
		RequestID: fmt.Sprintf("%s-%d", s.Name, s.story.sku)}
}

// goShopping buys, and comes again while told that nothing was taken, for
// reasons that may pass.
func (s *shopper) goShopping(ctx context.Context, patience time.Duration) {
	begun := time.Now()
	defer func() {
		s.took = time.Since(begun)
		close(s.done)
	}()
	ctx, cancel := context.WithTimeout(tap.With(ctx, s.Gate), patience)
	defer cancel()
	s.outcome = explore.Outcome{Buyer: s.Buyer}
	for {
		s.outcome.Receipt, s.outcome.Err = s.strategy.Deduct(ctx, s.purchase())
		if !s.mayPass() || tap.Sleep(ctx, 20*time.Millisecond) != nil {
			return
		}
	}
}

func (s *shopper) mayPass() bool {
	return slices.ContainsFunc([]error{seckill.ErrBusy, seckill.ErrUnavailable, seckill.ErrConflict},
		func(e error) bool { return errors.Is(s.outcome.Err, e) })
}

// served: they got a unit, or were told that there is none for them.
func (s *shopper) served() bool {
	return s.outcome.Err == nil || errors.Is(s.outcome.Err, seckill.ErrSoldOut)
}
