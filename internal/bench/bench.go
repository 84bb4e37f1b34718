// Package bench measures locks on real servers: our own beside those that
// others have made, in one run. Machines differ from each other, and from
// themselves an hour later, so what counts are ratios within a run. Rounds
// alternate their order (A B C, C B A, …), so that drift hits all alike.
//
// Every holder increments a counter that nothing protects but the lock; a lock
// whose counter is not exact let two in, and its figures mean nothing.
package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"seckill/internal/backend"
)

// Options of a run.
type Options struct {
	Backends    backend.Config
	Contestants []Contestant

	Contenders []int         // how many wait for one lock at a time, such as 8, 64
	Instances  int           // over how many processes' connections they are spread
	Hold       time.Duration // how long each holds it
	Rounds     int
	For        time.Duration // one pass; longer where it is too short for all to have their turns

	// Progress is told of each pass before it begins.
	Progress func(done, total int, what string)
}

// turns is how often each contender of a fair lock gets it in one pass, at
// least: of fewer, fewest/most says nothing.
const turns = 10

// A Scene is a lock under one number of contenders.
type Scene struct {
	Contenders int     `json:"contenders"` // 1: uncontended, acquired and released without a pause
	Commands   float64 `json:"commands_per_acquisition"`
	Passes     []Pass  `json:"passes"`
	Error      string  `json:"error,omitempty"` // what kept it from being measured
}

// SceneFigures are what a Scene's rounds come to.
type SceneFigures struct {
	Rate, WaitP50, WaitP99, Fairness Spread
}

// Figures of a scene; ok is false where it could not be measured.
func (s Scene) Figures() (f SceneFigures, ok bool) {
	if s.Error != "" || len(s.Passes) == 0 || s.lost() > 0 {
		return f, false
	}
	return SceneFigures{s.spread(rate), s.spread(waitP50), s.spread(waitP99), s.spread(fairness)}, true
}

// A Result is what was measured of one lock.
type Result struct {
	Name    string  `json:"name"`
	Foreign bool    `json:"foreign"`
	Terms   string  `json:"terms,omitempty"`
	Scenes  []Scene `json:"scenes"`
}

// Run measures. When it is broken off, what was measured until then is
// returned with the error; a lock that fails has an error in its Scene and
// stops nobody else.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := newReport(o)
	scenes := append([]int{1}, o.Contenders...)
	total, done := len(o.Contestants)*len(scenes)*(o.Rounds+1), 0
	for _, c := range o.Contestants {
		result := &Result{Name: c.Name, Foreign: c.Foreign, Terms: c.Terms}
		for _, n := range scenes {
			result.Scenes = append(result.Scenes, Scene{Contenders: n})
		}
		r.Locks = append(r.Locks, result)
	}
	order := ascending(len(o.Contestants))
	for round := range o.Rounds + 1 { // the last one counts commands
		for s, n := range scenes {
			for _, i := range order {
				c, scene := o.Contestants[i], &r.Locks[i].Scenes[s]
				o.Progress(done, total, fmt.Sprintf("%s, %s", c.Name, crowd(n)))
				done++
				if scene.Error != "" {
					continue
				}
				var err error
				if round < o.Rounds {
					var pass Pass
					if pass, err = c.pass(ctx, o, o.shape(n)); err == nil {
						pass.Round = round + 1
						scene.Passes = append(scene.Passes, pass)
					}
				} else {
					counting := o.shape(n)
					counting.measured /= 4
					scene.Commands, err = c.commands(ctx, o, counting)
				}
				if ctx.Err() != nil {
					r.compare()
					return r, context.Cause(ctx)
				}
				if err != nil {
					scene.Error = err.Error()
				}
			}
		}
		slices.Reverse(order)
	}
	r.compare()
	return r, nil
}

func ascending(n int) (order []int) {
	for i := range n {
		order = append(order, i)
	}
	return order
}

func crowd(contenders int) string {
	if contenders == 1 {
		return "uncontended"
	}
	return fmt.Sprint(contenders, " contenders")
}

func (o Options) shape(contenders int) shape {
	if contenders == 1 {
		return shape{contenders: 1, instances: 1, warm: o.For / 10, measured: o.For}
	}
	round := time.Duration(contenders) * o.Hold
	return shape{
		contenders: contenders, instances: o.Instances,
		hold: func() time.Duration { return o.Hold },
		warm: max(o.For/10, round*3/2), measured: max(o.For, turns*round),
	}
}
