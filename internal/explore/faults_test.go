package explore_test

import (
	"errors"
	"strings"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/strategies/local"
	"seckill/strategies/mysqllock"
	"seckill/strategies/redislock"
	"seckill/strategies/sqlrow"
)

// before are A's turns up to, and without, the first command that begins with
// one of words.
func before(t *testing.T, w *explore.World, s *explore.Scenario, words ...string) []explore.Choice {
	t.Helper()
	n := 0
	for _, step := range again(t, w, s).Steps {
		if step.Who != "A" {
			continue
		}
		for _, word := range words {
			if strings.HasPrefix(step.Command, word) {
				return turns(strings.Repeat("A", n))
			}
		}
		n++
	}
	t.Fatalf("A sends no %q:\n%s", words, table(again(t, w, s)))
	return nil
}

func happens(choices []explore.Choice, who string, f explore.Fault) []explore.Choice {
	return append(choices, explore.Choice{Who: who, Fault: f})
}

// sent are the commands of one buyer from step i on.
func sent(o *explore.Schedule, who string, i int) (list []string) {
	for _, s := range o.Steps[i:] {
		if s.Who == who && s.Fault == "" {
			list = append(list, s.Command)
		}
	}
	return list
}

// A process that dies sends nothing more, no ROLLBACK and no release: the server
// rolls back what it had begun, and the next waits no longer than that.
func TestTheDeadDoNotCleanUp(t *testing.T) {
	s := withFault(two(explore.Buys), explore.Dies)
	w := open(t, sqlrow.ForUpdate)
	choices := before(t, w, s, "COMMIT")
	o := again(t, w, s, happens(choices, "A", explore.Dies)...)
	if len(sent(o, "A", len(choices))) > 0 {
		t.Errorf("A died, and then sent %q", sent(o, "A", len(choices)))
	}
	if b := o.Buyers[1]; b.Err != nil || b.WaitedFor != 0 || b.Receipt.Remaining != 4 || len(o.Problems) > 0 {
		t.Errorf("B: %+v, want one unit of five as soon as the server has rolled A back:\n%s", b, table(o))
	}
}

// The reply to COMMIT is lost: the buyer must not be told that nothing was sold.
// COMMIT itself is lost: nothing is sold, and the buyer cannot know it either.
func TestLostCommit(t *testing.T) {
	w := open(t, sqlrow.Conditional)
	for fault, left := range map[explore.Fault]int64{explore.ReplyLost: 2, explore.CommandLost: 4} {
		s := withFault(two(explore.Buys), fault)
		o := again(t, w, s, happens(before(t, w, s, "COMMIT"), "A", fault)...)
		a, b := o.Buyers[0], o.Buyers[1]
		if !errors.Is(a.Err, seckill.ErrUnknown) || b.Err != nil || len(o.Problems) > 0 || !o.Faulty() {
			t.Errorf("%s: A was told %v, want unknown; B %v:\n%s", fault, a.Err, b.Err, table(o))
		}
		if b.Receipt.Remaining != left {
			t.Errorf("%s: %d are left after B, want %d", fault, b.Receipt.Remaining, left)
		}
		if b.Waited && b.WaitedFor > 0 {
			t.Errorf("%s: B waited for a lease to end", fault)
		}
	}
}

// A process dies with everyone in it; a buyer who leaves takes no one along.
func TestADeathTakesTheWholeProcess(t *testing.T) {
	w := open(t, local.MutexPerSKU)
	s := withFault(two(explore.Buys), explore.Dies)
	s.Next = true
	s.Buyers[1].Process = s.Buyers[0].Process
	o := again(t, w, s, happens(before(t, w, s, "COMMIT"), "A", explore.Dies)...)
	if !o.Buyers[0].Dead || !o.Buyers[1].Dead || o.Buyers[2].Err != nil {
		t.Errorf("A and B share a process that died: %+v", o.Buyers)
	}
	s.Faults = []explore.Fault{explore.Leaves}
	o = again(t, w, s, happens(before(t, w, s, "COMMIT"), "B", explore.Leaves)...)
	if o.Buyers[0].Err != nil || o.Buyers[1].Err == nil || o.Buyers[1].Dead || len(o.Problems) > 0 {
		t.Errorf("B has left while they waited for A: %+v %+v", o.Buyers, o.Problems)
	}
}

// The clock of one process jumps, and no other's: by it the holder's deadline is
// past. The server's clock, and the same process in the next schedule, know nothing
// of it.
func TestAClockJumps(t *testing.T) {
	run := func(w *explore.World, jumps bool) *explore.Schedule {
		s := withFault(two(explore.Buys), explore.ClockJumps)
		choices := before(t, w, s, "UPDATE stock")
		if jumps {
			choices = happens(choices, "B", explore.ClockJumps)
		}
		return again(t, w, s, append(choices, turns("B")...)...)
	}
	for name, c := range map[string]struct {
		info   catalog.Info
		breaks bool
	}{
		"the process's clock": {redislock.RedisGETSET, true},
		"the server's clock":  {mysqllock.LockInsert, false},
	} {
		w := open(t, c.info)
		if o := run(w, true); broke(o, ledger.RuleLostUpdate) != c.breaks || !o.Faulty() {
			t.Errorf("%s: problems %+v:\n%s", name, o.Problems, table(o))
		}
		if o := run(w, false); len(o.Problems) > 0 {
			t.Errorf("%s, one schedule later: %+v:\n%s", name, o.Problems, table(o))
		}
	}
}
