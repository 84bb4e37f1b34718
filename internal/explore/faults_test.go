package explore_test

import (
	"strings"
	"testing"

	"seckill/internal/explore"
	"seckill/strategies/local"
)

// before returns A's turns up to the first command that begins with word, without that command.
func before(t *testing.T, w *explore.World, s *explore.Scenario, word string) []explore.Choice {
	t.Helper()
	n := 0
	for _, step := range again(t, w, s).Steps {
		if step.Who != "A" {
			continue
		}
		if strings.HasPrefix(step.Command, word) {
			return turns(strings.Repeat("A", n))
		}
		n++
	}
	t.Fatalf("A sends no %q:\n%s", word, table(again(t, w, s)))
	return nil
}

func happens(choices []explore.Choice, who string, f explore.Fault) []explore.Choice {
	return append(choices, explore.Choice{Who: who, Fault: f})
}

// When a process dies, all its buyers die. When a buyer leaves, the others continue.
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
