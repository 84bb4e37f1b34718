package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/measure"
)

func TestPercentile(t *testing.T) {
	var all []time.Duration
	for i := 100; i > 0; i-- {
		all = append(all, time.Duration(i)*time.Millisecond)
	}
	for _, c := range []struct {
		all  []time.Duration
		p    int
		want float64
	}{{all, 50, 50}, {all, 99, 99}, {all[:1], 99, 1}, {nil, 50, 0}} {
		if got := percentile(c.all, c.p); got != c.want {
			t.Errorf("p%d of %d values is %v, want %v", c.p, len(c.all), got, c.want)
		}
	}
}

// What could not be measured is left out of the lessons' figures.
func TestFiguresOfTheLessons(t *testing.T) {
	pass := Pass{Locks: 9, Rate: 180.04, WaitP50: 30, WaitP99: 40, Fewest: 3, Most: 4, Commands: 3}
	r := &Report{HoldMS: 5, Scenes: []*Scene{
		{Lock: "zk", Contenders: 1, Passes: []Pass{pass}}, {Lock: "zk", Contenders: 8, Passes: []Pass{pass}},
		{Lock: "etcd", Contenders: 8, Passes: []Pass{pass}, Error: "gone"}, {Lock: "void", Contenders: 8, Passes: []Pass{pass, {Lost: 1}}},
	}}
	f := r.Figures()
	if eight := f.Locks["zk"][8]; eight.Rate[0] != 180 || eight.P99[0] != 40 || eight.Sent != 3 || len(f.Locks) != 1 {
		t.Errorf("%+v of %v", eight, f.Locks)
	}
	table := &Scene{Lock: "table", Contenders: 50, Passes: []Pass{pass}}
	c := Articles{Lock: "redis-lua", Central: table, Segmented: &Scene{}, Polls: []Setting{{5, &Scene{Lock: "polled", Passes: []Pass{pass, pass}}}, {10, &Scene{}}},
		Leases: []Setting{{15, &Scene{}}}}
	if f := c.Figures(); f.Lock != "redis-lua" || len(f.Polls) != 1 || f.Polls[0].MS != 5 || f.Leases != nil {
		t.Errorf("%+v", f)
	}
	report := c.Report(measure.Run{})
	if lease := report.Tables[2].Rows[0]; !slices.Equal(lease, []string{"15.0", measure.None, measure.None, measure.None}) {
		t.Errorf("a lease that was not measured: %v", lease)
	}
	var csv strings.Builder
	labtest.Must(t, report.WriteCSV(&csv))
	if got := csv.String(); strings.Count(got, "polled,") != 2 || !strings.Contains(got, "\ntable,50,0,0,0,180.04,30,40,0,0.75,3,0,0\n") {
		t.Errorf("CSV without a row for each round:\n%s", got)
	}
}
