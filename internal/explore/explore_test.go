package explore_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

func open(t *testing.T, name string) *explore.World {
	t.Helper()
	for _, info := range strategies.All() {
		if info.Name == name {
			return openInfo(t, info)
		}
	}
	t.Fatalf("there is no strategy %q", name)
	return nil
}

func openInfo(t *testing.T, info catalog.Info) *explore.World {
	t.Helper()
	needs := append([]backend.Capability{backend.SQL}, info.Needs...)
	w, err := explore.Open(t.Context(), info, labtest.Only(labtest.Start(t, needs...).Config(), needs...), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func scenario(kind string) *explore.Scenario {
	s := &explore.Scenario{Name: kind, Stock: 3, Buyers: []explore.Buyer{
		{Name: "A", Quantity: 1, Does: explore.Buys}, {Name: "B", Process: 1, Quantity: 2, Does: explore.Buys},
	}, Next: true}
	switch kind {
	case "S":
		s.Buyers[1].Process = 0
	case "C":
		s.Faults, s.MaxFaults = []explore.Fault{explore.Dies}, 1
	case "P":
		s.Faults, s.MaxFaults = []explore.Fault{explore.LeaseEnds}, 1
	case "R":
		s.Faults, s.MaxFaults = []explore.Fault{explore.ReplyLost}, 1
	case "O":
		s.Buyers = append(s.Buyers, explore.Buyer{Name: "C", Process: 2})
		for i := range s.Buyers {
			s.Buyers[i].Does = explore.Locks
		}
		s.Faults, s.MaxFaults, s.Next = []explore.Fault{explore.LeaseEnds}, 1, false
	}
	return s
}

func TestTry(t *testing.T) {
	w := open(t, os.Getenv("TRY"))
	for _, kind := range []string{"S", "M", "C", "P", "R", "O"}[len(os.Getenv("FROM")):] {
		begun := time.Now()
		p := 2
		if kind == "S" || kind == "M" {
			p = -1
		}
		res, err := w.Search(t.Context(), scenario(kind), explore.Limits{Preemptions: p, All: true, Time: 20 * time.Second})
		t.Logf("%s: %+v %v in %v", kind, res, err, time.Since(begun))
		if res.First != nil {
			o, err := w.Shorten(t.Context(), res.First, func(string) bool { return true })
			t.Log(err)
			var b strings.Builder
			explore.NewExample(os.Getenv("TRY"), kind, o).WriteTable(&b)
			t.Log("\n" + b.String())
		}
	}
}
