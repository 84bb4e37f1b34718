package explore_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"seckill/internal/explore"
	"seckill/internal/seckill"
	"seckill/strategies/zklock"
)

var update = flag.Bool("update", false, "write the story of the fenced lock anew")

// The story that chapter 11 plays beside the counterexample of zk: the same
// happens to zk-fenced, and the stock row refuses the sleeper.
const heldStory = "../../web/static/lessons/held.zk-fenced.lease-end.json"

func TestTheStoryOfTheFencedLock(t *testing.T) {
	w := open(t, zklock.ZKFenced)
	if *update {
		writeStory(t, w)
	}
	text, err := os.ReadFile(heldStory)
	if err != nil {
		t.Fatal(err)
	}
	e, err := explore.ReadExample(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	o, err := w.Replay(t.Context(), e)
	if err != nil {
		t.Fatalf("%v (go test ./internal/explore -run Story -update writes it anew)", err)
	}
	if len(e.Problems)+len(o.Problems) > 0 || !o.Faulty() {
		t.Errorf("it is %+v, and breaks %+v now; want a lease that ends and no harm", e.Problems, o.Problems)
	}
	if a := o.Buyers[0]; !errors.Is(a.Err, seckill.ErrConflict) || o.Buyers[1].Err != nil {
		t.Errorf("A was told %v, B %v; want a conflict and a sale", a.Err, o.Buyers[1].Err)
	}
	if refused := slices.IndexFunc(o.Steps, func(s explore.Step) bool {
		return s.Who == "A" && strings.HasPrefix(s.Command, "UPDATE stock SET num")
	}); refused < 0 {
		t.Errorf("A never comes to write:\n%s", table(o))
	}
}

func writeStory(t *testing.T, w *explore.World) {
	s := withFault(two(explore.Buys), explore.LeaseEnds)
	s.Name, s.Stock, s.Next = "two buyers, the holder's lease ends", 2, true
	whole := len(sent(again(t, w, s), "A", 0)) // of a purchase: B's is as long
	choices := happens(before(t, w, s, "BEGIN"), "", explore.LeaseEnds)
	o := again(t, w, s, append(choices, turns(strings.Repeat("B", whole))...)...)
	if len(o.Problems) > 0 {
		t.Fatalf("this is no story of a lock that holds:\n%s", table(o))
	}
	var text bytes.Buffer
	if err := explore.NewExample(zklock.ZKFenced.Name, "lease-end", o).Write(&text); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(heldStory, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
