package bench

import (
	"encoding/json"
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
	read := func(r measure.Report) string {
		text, err := json.Marshal(r.JSON)
		labtest.Must(t, err)
		return string(text)
	}
	const zk = `"locks":{"zk":{"1":{"commands":[3,3,3],"locks_per_second":[180,180,180],"lost_percent":[0,0,0],"p99_ms":[40,40,40]},"8":{`
	if got := read(r.Report(measure.Run{})); !strings.Contains(got, zk) || strings.Contains(got, "etcd") || strings.Contains(got, "void") {
		t.Error(got)
	}
	table := &Scene{Lock: "table", Contenders: 50, Passes: []Pass{pass}}
	c := Articles{Lock: "redis-lua", Central: table, Segmented: &Scene{}, Polls: []*Scene{{ms: 5, Lock: "polled", Passes: []Pass{pass, pass}}, {ms: 10}},
		Leases: []*Scene{{ms: 15}}}
	report := c.Report(measure.Run{})
	if got := read(report); !strings.Contains(got, `"lock":"redis-lua"`) || strings.Count(got, `"ms":`) != 1 || !strings.Contains(got, `"ms":5,`) {
		t.Error(got)
	}
	if lease := report.Tables[2].Rows[0]; !slices.Equal(lease, []string{"15.0", measure.None, measure.None, measure.None}) {
		t.Errorf("a lease that was not measured: %v", lease)
	}
}
