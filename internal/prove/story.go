package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/explore"
	"seckill/internal/lock"
	"seckill/internal/observe"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A story is what several buyers did in real time, in the order in which they
// did it, and who had the lock meanwhile.
type story struct {
	sku int64

	mu       sync.Mutex
	schedule explore.Schedule
	names    *observe.Names
	inside   map[string]context.Context // their leases'
	said     map[string]string          // what each did last
}

func newStory(sku int64, s *explore.Scenario) *story {
	return &story{sku: sku, schedule: explore.Schedule{Scenario: s}, names: observe.NewNames(sku),
		inside: map[string]context.Context{}, said: map[string]string{}}
}

// storyLimit bounds the steps of a polling buyer.
const storyLimit = 200

// tell adds a step and returns its number; -1 if it is a repetition.
func (s *story) tell(step explore.Step) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	step.Command = s.names.Plain(step.Command)
	if step.Who != "" && s.said[step.Who] == step.Command || len(s.schedule.Steps) == storyLimit {
		return -1
	}
	s.said[step.Who] = step.Command
	s.schedule.Steps = append(s.schedule.Steps, step)
	return len(s.schedule.Steps) - 1
}

func (s *story) result(step int, result string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if step >= 0 {
		s.schedule.Steps[step].Result = s.names.Plain(result)
	}
}

// look adds what the servers keep to the last step.
func (s *story) look(values []explore.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, v := range values {
		values[i] = explore.Value{Name: s.names.Plain(v.Name), Value: s.names.Plain(v.Value)}
	}
	if n := len(s.schedule.Steps); n > 0 {
		s.schedule.Steps[n-1].Values = values
	}
}

// enters notes that a buyer has the lock, and which others have it. A buyer who
// was told that their lease is over is no holder any more.
func (s *story) enters(who string, lease context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, theirs := range s.inside {
		if theirs.Err() == nil {
			s.schedule.Overlaps = append(s.schedule.Overlaps,
				explore.Overlap{Step: len(s.schedule.Steps) - 1, First: other, Second: who})
		}
	}
	s.inside[who] = lease
}

func (s *story) leaves(who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.inside, who)
}

// A shopper is a buyer in a story, as the tap of their own commands. A shopper who
// is held stands before their first write to the database until they may go on.
type shopper struct {
	explore.Buyer
	*party
	story   *story
	reached chan struct{} // closed when they stand before their write
	open    chan struct{} // nil: not held
	done    chan struct{} // closed when outcome is known
	outcome explore.Outcome
	took    time.Duration

	mu     sync.Mutex
	held   bool
	sent   map[string]bool
	under  map[*tap.Command]sending
	newest time.Time // when they sent what they had not sent before, or had its answer
	heard  time.Time // when a server other than the database first answered
}

// A sending is a command under way.
type sending struct {
	step  int
	fresh bool // not sent before
}

func newShopper(b explore.Buyer, p *party, s *story) *shopper {
	return &shopper{Buyer: b, party: p, story: s, reached: make(chan struct{}), done: make(chan struct{}),
		sent: map[string]bool{}, under: map[*tap.Command]sending{}}
}

// Holds implements observe.Holder. A lock of a database session ends with the
// transaction that it is for: there is nothing to see.
func (s *shopper) Holds(lease lock.Lease, _ bool) {
	if _, ok := lease.(lock.SessionLease); !ok {
		s.story.enters(s.Name, lease.Context())
	}
}

// Frees implements observe.Holder.
func (s *shopper) Frees() { s.story.leaves(s.Name) }

// Freed implements observe.Holder.
func (s *shopper) Freed() {}

// Before implements tap.Tap.
func (s *shopper) Before(ctx context.Context, c *tap.Command) error {
	if c.Name == "back-off" {
		return nil
	}
	if s.open != nil && c.Backend == tap.SQL && slices.Contains([]string{"INSERT", "UPDATE"}, c.Name) {
		s.stand()
	}
	text := observe.Describe(c)
	if tap.IsBackground(ctx) {
		text = "(renewer) " + text
	}
	step := s.story.tell(explore.Step{Choice: explore.Choice{Who: s.Name}, Backend: c.Backend, Command: text})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under[c] = sending{step, !s.sent[text]}
	if !s.sent[text] {
		s.sent[text], s.newest = true, time.Now()
	}
	return nil
}

func (s *shopper) stand() {
	s.mu.Lock()
	first := !s.held
	s.held = true
	s.mu.Unlock()
	if first {
		close(s.reached)
	}
	<-s.open
}

// After implements tap.Tap.
func (s *shopper) After(_ context.Context, c *tap.Command, err error) error {
	answer := err == nil || errors.Is(err, redis.Nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	sent, told := s.under[c]
	delete(s.under, c)
	if !told {
		return err
	}
	if sent.fresh {
		s.newest = time.Now()
	}
	if answer && s.heard.IsZero() && c.Backend != tap.SQL && c.Backend != tap.Waiting {
		s.heard = time.Now()
	}
	if !answer {
		s.story.result(sent.step, err.Error())
	}
	return err
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
		s.mu.Lock()
		waits := !s.heard.IsZero() && time.Since(s.newest) > quiet
		s.mu.Unlock()
		if waits {
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
	ctx, cancel := context.WithTimeout(tap.With(ctx, s), patience)
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
