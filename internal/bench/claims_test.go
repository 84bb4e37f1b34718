package bench

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/measure"
	"seckill/strategies/mysqllock"
	"seckill/strategies/redislock"
)

// A lease shorter than its task loses updates; one many times longer does not.
// Nothing is left of the experiment's many names.
func TestExperiments(t *testing.T) {
	o := short(t, ourLock(t, "lock-row"), ourLock(t, "redis-lua"))
	o.Candidates, o.Hold, o.For, o.Rounds = o.Candidates[:1], 10*time.Millisecond, 300*time.Millisecond, 1
	var c Claims
	err := c.Measure(t.Context(), o, Experiment{Central: mysqllock.LockTableCentral, Segmented: mysqllock.LockTableSegmented,
		Polling: redislock.RedisLua, Settings: catalog.DefaultSettings(), Workers: 5})
	if err != nil {
		t.Fatal(err)
	}
	first, last := c.Leases[0].Scene, c.Leases[len(c.Leases)-1].Scene
	if first.spread(lost).Median == 0 || first.spread(gone).Median == 0 || last.spread(lost).Median >= first.spread(lost).Median {
		t.Errorf("a lease of half the task lost %v %%, one of ten times %v %%", first.spread(lost), last.spread(lost))
	}
	if c.Ratio.Low <= 0 || len(c.Polls) != len(pollFactors) || c.Polls[0].spread(rate).Median <= 0 {
		t.Errorf("central over segmented %v, pauses %+v", c.Ratio, c.Polls)
	}
	var n int64
	err = labtest.Instance(t, backend.SQL, backend.RowLocks).DB.Raw("SELECT COUNT(*) FROM lock_record").Scan(&n).Error
	if err != nil || n != 0 {
		t.Errorf("%d records are left behind, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Measure(ctx, o, Experiment{Polling: redislock.RedisLua}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Every statement of the articles that the lab answers has a figure or a proof
// and a command, whatever was measured of it.
func TestClaims(t *testing.T) {
	m := &measure.Matrix{}
	for _, name := range []string{"redis-lua", "redis-watchdog", "zk", "redis-counter", "mysql-counter"} {
		row := measure.MatrixRow{Strategy: name, Cells: map[string]measure.Cell{}}
		for _, q := range []string{"dead-holder", "lease-end", "lost-reply", "oversell"} {
			row.Cells[q] = measure.Cell{Answer: "holds"}
			if q == "dead-holder" {
				row.Cells[q] = measure.Cell{Answer: "holds", Wait: 2}
			}
		}
		m.Rows = append(m.Rows, row)
	}
	m.Rows[2].Cells["lease-end"], m.Rows[3].Cells["lost-reply"] = measure.Cell{Answer: "breaks"}, measure.Cell{Answer: "breaks"}
	for _, matrix := range []*measure.Matrix{m, nil} {
		c := Claims{Report: &Report{}, Matrix: matrix, Polls: []Setting{{1, &Scene{}}, {50, &Scene{}}}, Leases: []Setting{{2.5, &Scene{}}}}
		c.judge(5 * time.Millisecond)
		articles := map[string]int{}
		for _, x := range c.All {
			articles[x.Article]++
			if x.Says == "" || x.Run == "" || !strings.HasPrefix(x.Command, "seckill ") {
				t.Errorf("%+v", x)
			}
		}
		// A: three; B: the experiment and the four choices, by two measures; D: speed alone and in a crowd, and five more
		// rows; E: two.
		if articles["A"] != 3 || articles["B"] != 3 || articles["D"] != 7 || articles["E"] != 2 {
			t.Errorf("%v", articles)
		}
		all := slices.Collect(func(yield func(string) bool) {
			for _, x := range c.All {
				if !yield(x.Run) {
					return
				}
			}
		})
		text := strings.Join(all, "\n")
		want := []string{"the end of a lease under its holder: redis-lua ✓, redis-watchdog ✓, zk ✗", "redis-lua ✓ after 2.0 s",
			"redis-counter by a lost reply; mysql-counter by nothing"}
		if matrix == nil {
			want = []string{"zk not proven"}
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q is not in\n%s", w, text)
			}
		}
	}
}
