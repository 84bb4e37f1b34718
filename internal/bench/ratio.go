package bench

import "seckill/internal/measure"

// A Ratio compares one of our locks with a foreign one within each round.
type Ratio struct {
	Ours       string         `json:"ours"`
	Foreign    string         `json:"foreign"`
	Contenders int            `json:"contenders"`
	Measure    string         `json:"measure"`
	Ratio      measure.Spread `json:"ratio"`
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

// compare computes the ratios of all pairs that were measured.
func (r *Report) compare() {
	r.Ratios = []Ratio{}
	add := func(ours, foreign string, contenders int, f figure) {
		a, ok := r.scene(ours, contenders)
		b, both := r.scene(foreign, contenders)
		if ok && both {
			r.Ratios = append(r.Ratios, Ratio{ours, foreign, contenders, f.name, a.series(f).Over(b.series(f)).Spread()})
		}
	}
	for _, p := range peers {
		for _, foreign := range p.foreign {
			for _, n := range r.crowds() {
				add(p.ours, foreign, n, rate)
				if n > 1 {
					add(p.ours, foreign, n, waitP99)
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
