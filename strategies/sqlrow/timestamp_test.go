package sqlrow

import (
	"sync"
	"testing"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
	"seckill/strategies/saletest"
)

// A clock that stands, or moves on by a step each time it is read.
type clock struct {
	mu   sync.Mutex
	at   time.Time
	step time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(c.step)
	return c.at
}

// After a first purchase, A reads the row, B buys, and A goes on. A must notice B's purchase,
// which works only if B's timestamp differs from the first buyer's.
func TestTwoWritesAtTheSameTime(t *testing.T) {
	const tick = time.Microsecond
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		micro           bool
		first, then     time.Duration // the clock's offset in the first buyer's process, and in the others'
		step            time.Duration // how far their clock moves on with each look
		quantityA, andB int64
		lost            bool
	}{
		"seconds, pinned clock":                      {false, 0, 0, 0, 1, 2, true},
		"seconds, ticking within the second":         {false, 0, 0, tick, 1, 2, true},
		"seconds, a second later":                    {false, 0, time.Second, 0, 1, 2, false},
		"microseconds, pinned clock":                 {true, 0, 0, 0, 1, 2, true},
		"microseconds, a tick later":                 {true, 0, 0, tick, 1, 2, false},
		"microseconds, a process that runs ahead":    {true, time.Minute, time.Minute - tick, tick, 1, 2, true},
		"microseconds, a process ahead by something": {true, time.Minute, 0, tick, 1, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			deps := func(offset, step time.Duration) catalog.Deps {
				return catalog.Deps{Now: (&clock{at: noon.Add(offset), step: step}).now,
					Settings: catalog.Settings{MicrosecondTS: c.micro, Retries: 3}}
			}
			s := saletest.Open(t, Timestamp, 10, deps(c.first, 0), deps(c.then, c.step))
			_, err := s.Buy(t.Context(), 1, 1)
			labtest.Must(t, err)
			attempts := 0
			a := tap.With(t.Context(), &taptest.Tap{OnBefore: func(command *tap.Command) error {
				if command.Name != "BEGIN" {
					return nil
				}
				if attempts++; attempts > 1 {
					return nil
				}
				if _, err := s.Processes[1].Deduct(t.Context(), s.Purchase(2, c.andB)); err != nil {
					t.Errorf("B: %v", err)
				}
				return nil
			}})
			if _, err := s.Processes[1].Deduct(a, s.Purchase(3, c.quantityA)); err != nil {
				t.Errorf("A: %v", err)
			}
			want, tries := judge.Held, 2
			if c.lost {
				want, tries = judge.Lost, 1
			}
			if got := s.Judge(t); got.Verdict != want || attempts != tries {
				t.Errorf("the audit says %s after %d attempts, want %s after %d: %+v",
					got.Verdict, attempts, want, tries, got.Violations)
			}
		})
	}
}
