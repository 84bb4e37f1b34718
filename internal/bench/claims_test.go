package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/measure"
)

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
		c := Claims{Report: &Report{}, Matrix: matrix, Polls: []SweepPoint{{Poll: 1}, {Poll: 50}}, Leases: []SweepPoint{{Lease: 2.5}}}
		c.Judge(5 * time.Millisecond)
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
