package bench

import "seckill/internal/measure"

// A Ratio compares one of our locks with a foreign one within each round.
// Without a foreign one it is the figure itself.
type Ratio struct {
	Ours       string         `json:"ours"`
	Foreign    string         `json:"foreign,omitempty"`
	Contenders int            `json:"contenders"`
	Measure    string         `json:"measure"`
	Ratio      measure.Spread `json:"ratio"`
	Goal       float64        `json:"goal,omitempty"` // 0: none
	AtMost     bool           `json:"at_most"`        // the goal is an upper bound; less is better
}

// Met reports whether the median reaches the goal.
func (r Ratio) Met() bool {
	return r.Goal == 0 || r.AtMost && r.Ratio.Median <= r.Goal || !r.AtMost && r.Ratio.Median >= r.Goal
}

// peers are the foreign locks of the same kind.
var peers = []struct {
	ours    string
	foreign []string
}{
	{"redis-watchdog", []string{Redislock, Rueidislock, Redsync, MySQLGetLock}},
	{"redis-lua", []string{Redislock}},
	{"redsync", []string{Redsync}},
	{"etcd", []string{EtcdMutex}},
	{"zk", []string{GoZooKeeper}},
	{"get-lock", []string{MySQLGetLock}},
}

// anyCrowd marks a goal for every number of contenders.
const anyCrowd = 0

var goals = []struct {
	ours, foreign string
	contenders    int
	figure        figure
	goal          float64
	atMost        bool
}{
	{"redis-watchdog", MySQLGetLock, 8, waitP99, 1.3, true},
	{"redis-watchdog", "", 8, fairness, 0.7, false},
	{"redis-watchdog", Redislock, 1, rate, 1, false},
	{"etcd", EtcdMutex, 8, rate, 1.8, false},
	{"zk", GoZooKeeper, anyCrowd, rate, 1, false},
}

// compare computes the ratios of all pairs that were measured, those with a
// goal first.
func (r *Report) compare() {
	r.Ratios = []Ratio{}
	seen := map[Ratio]bool{}
	add := func(ours, foreign string, contenders int, f figure, goal float64, atMost bool) {
		ratio := Ratio{Ours: ours, Foreign: foreign, Contenders: contenders, Measure: f.name}
		if seen[ratio] {
			return
		}
		a, ok := r.scene(ours, contenders)
		b, both := r.scene(foreign, contenders)
		if !ok || foreign != "" && !both {
			return
		}
		seen[ratio] = true
		figures := a.series(f)
		if foreign != "" {
			figures = figures.Over(b.series(f))
		}
		ratio.Ratio, ratio.Goal, ratio.AtMost = figures.Spread(), goal, atMost
		r.Ratios = append(r.Ratios, ratio)
	}
	crowds := r.crowds()
	for _, g := range goals {
		for _, n := range crowds {
			if g.contenders == n || g.contenders == anyCrowd {
				add(g.ours, g.foreign, n, g.figure, g.goal, g.atMost)
			}
		}
	}
	for _, p := range peers {
		for _, foreign := range p.foreign {
			for _, n := range crowds {
				add(p.ours, foreign, n, rate, 0, false)
				if n > 1 {
					add(p.ours, foreign, n, waitP99, 0, true)
				}
			}
		}
	}
}

func (r *Report) crowds() (all []int) {
	if len(r.Locks) > 0 {
		for _, s := range r.Locks[0].Scenes {
			all = append(all, s.Contenders)
		}
	}
	return all
}
