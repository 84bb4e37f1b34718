// Package bench measures locks on real servers: the program's own beside those
// of other libraries, in one run.
//
// Every holder increments a counter that only the lock protects. A lock whose
// counter is not exact let two holders in, and its figures are void.
package bench

import (
	"context"
	"fmt"
	"time"

	"seckill/internal/backend"
	"seckill/internal/measure"
)

// Options of a run; some are flags.
type Options struct {
	Backends   backend.Config `kong:"-"`
	Candidates []Candidate    `kong:"-"`

	Contenders []int         `default:"8,64" help:"How many compete for one lock at a time, by comma."`
	Hold       time.Duration `default:"5ms" help:"How long each of them holds it."`
	Instances  int           `default:"1" help:"Spread the contenders over the connections of so many processes."`
	Rounds     int           `default:"3" help:"How often everything is measured, in alternating order."`
	For        time.Duration `default:"2s" help:"How long one lock is measured at a time; longer if its contenders would not all get their turns."`

	// Progress is called before each pass.
	Progress func(done, total int, what string) `kong:"-"`
}

// turns is how often each contender of a fair lock gets it in one pass, at
// least; with fewer, fewest/most says nothing.
const turns = 10

// A Scene is a lock under one number of contenders.
type Scene struct {
	Contenders int     `json:"contenders"` // 1: uncontended, acquired and released without a pause
	Commands   float64 `json:"commands_per_acquisition"`
	Passes     []Pass  `json:"passes"`
	Error      string  `json:"error,omitempty"` // why it could not be measured
}

// valid reports that it was measured in full, and that its lock let no two in.
func (s Scene) valid() bool { return s.Error == "" && len(s.Passes) > 0 && s.lost() == 0 }

// A Result is what was measured of one lock.
type Result struct {
	Name    string  `json:"name"`
	Foreign bool    `json:"foreign"`
	Terms   string  `json:"terms,omitempty"`
	Scenes  []Scene `json:"scenes"`
}

// Run measures all candidates. If ctx ends first, Run returns the figures until
// then with the error. A lock that fails has an error in its Scene and does not
// stop the others.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := newReport(o)
	defer r.compare()
	crowds := append([]int{1}, o.Contenders...)
	for _, c := range o.Candidates {
		result := &Result{Name: c.Name, Foreign: c.Foreign, Terms: c.Terms}
		for _, n := range crowds {
			result.Scenes = append(result.Scenes, Scene{Contenders: n})
		}
		r.Locks = append(r.Locks, result)
	}
	for turn := range measure.Turns(o.Rounds+1, len(crowds)*len(o.Candidates)) { // the last round counts commands
		s, i := turn.Subject/len(o.Candidates), turn.Subject%len(o.Candidates)
		c, scene := o.Candidates[i], &r.Locks[i].Scenes[s]
		o.Progress(turn.Done, turn.Total, c.Name+", "+crowd(scene.Contenders))
		if scene.Error != "" {
			continue
		}
		err := c.turn(ctx, o.Backends, o.shape(scene.Contenders), turn.Round, turn.Round > o.Rounds, scene)
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		if err != nil {
			scene.Error = err.Error()
		}
	}
	return r, nil
}

// turn measures a pass, or counts commands.
func (c Candidate) turn(ctx context.Context, b backend.Config, s shape, round int, count bool, scene *Scene) (err error) {
	if count {
		s.measured /= 4
		scene.Commands, err = c.commands(ctx, b, s)
		return err
	}
	pass, err := c.pass(ctx, b, s)
	if err == nil {
		pass.Round = round
		scene.Passes = append(scene.Passes, pass)
	}
	return err
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
