package bench

import (
	"strings"
	"testing"
	"time"

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

// Ratios are taken within a round.
func TestRatiosOfARun(t *testing.T) {
	passes := func(rates ...float64) (all []Pass) {
		for i, r := range rates {
			all = append(all, Pass{Round: i + 1, Rate: r})
		}
		return all
	}
	r := Report{Locks: []*Result{
		{Name: "zk", Scenes: []Scene{{Contenders: 1, Passes: passes(10, 300, 20)}}},
		{Name: GoZooKeeper, Foreign: true, Scenes: []Scene{{Contenders: 1, Passes: passes(20, 100, 10)}}},
	}}
	r.compare()
	if len(r.Ratios) != 1 || r.Ratios[0].Ratio != (measure.Spread{Median: 2, Low: 0.5, High: 3}) {
		t.Errorf("ratios %+v, want one: 2 (0.5 to 3)", r.Ratios)
	}
}

// A lost update is one whose read was older than another's write.
func TestUnprotectedCounterLosesUpdates(t *testing.T) {
	var u unprotected
	u.increment(func() { u.increment(func() {}) })
	if u.n.Load() != 1 {
		t.Errorf("two overlapping increments made %d, want 1", u.n.Load())
	}
}

// Commands are counted wherever the stream is cut.
func TestWireCountsCommands(t *testing.T) {
	const get = "*2\r\n$3\r\nGET\r\n$7\r\n*1\r\n$5x\r\n"
	stream := []byte(strings.Repeat(get, 3) + "*1\r\n$4\r\nPING\r\n")
	for size := 1; size <= len(stream); size++ {
		count, n := redisRequests(), 0
		for rest := stream; len(rest) > 0; {
			cut := min(size, len(rest))
			n, rest = n+count(rest[:cut]), rest[cut:]
		}
		if n != 4 {
			t.Errorf("in pieces of %d bytes %d commands were counted, want 4", size, n)
		}
	}
	request := func(op byte) []byte { return []byte{0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, op} }
	for op, want := range map[byte]int{0: 0, 1: 1, 4: 1, 8: 1, 11: 0, 101: 0} {
		if got := zooKeeperRequests()(request(op)); got != want {
			t.Errorf("ZooKeeper's operation %d counts as %d, want %d", op, got, want)
		}
	}
}

// A lock that let two in, or could not be measured to the end, is compared with none.
func TestVoidFiguresAreNotCompared(t *testing.T) {
	scenes := map[string]Scene{
		"sound":  {Contenders: 8, Passes: []Pass{{Rate: 1}}},
		"void":   {Contenders: 8, Passes: []Pass{{Rate: 9}, {Rate: 9, Lost: 1}}},
		"broken": {Contenders: 8, Passes: []Pass{{Rate: 9}}, Error: "the server is gone"},
	}
	r := &Report{}
	for name, s := range scenes {
		r.Locks = append(r.Locks, &Result{Name: name, Scenes: []Scene{s}})
	}
	for name := range scenes {
		if _, ok := r.scene(name, 8); ok != (name == "sound") {
			t.Errorf("%s: %v", name, ok)
		}
	}
}

// What could not be measured is left out of the lessons' figures.
func TestFiguresOfTheLessons(t *testing.T) {
	pass := Pass{Locks: 9, Rate: 180.04, WaitP50: 30, WaitP99: 40, Fewest: 3, Most: 4}
	r := &Report{HoldMS: 5, Locks: []*Result{
		{Name: "zk", Scenes: []Scene{{Contenders: 1, Commands: 3, Passes: []Pass{pass}}, {Contenders: 8, Passes: []Pass{pass}}}},
		{Name: "theirs", Foreign: true, Scenes: []Scene{{Contenders: 8, Passes: []Pass{pass}}}},
		{Name: "etcd", Scenes: []Scene{{Contenders: 8, Error: "gone"}}},
	}}
	f := r.Figures()
	if eight := f.Locks["zk"].Crowds[8]; eight.Rate[0] != 180 || eight.Fairness[0] != 0.75 || len(f.Locks) != 2 || !f.Locks["theirs"].Foreign {
		t.Errorf("%+v of %v", eight, f.Locks)
	}
	c := Claims{Report: r, Swept: "redis-lua, 8 contenders", Polls: []SweepPoint{{Poll: 5}}}
	if f := c.Figures(); f.Lock != "redis-lua" || len(f.Polls) != 1 || f.Polls[0].MS != 5 {
		t.Errorf("%+v", f)
	}
}
