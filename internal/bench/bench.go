// Package bench measures locks on real servers: the program's own beside those
// of other libraries, in one run, and what the articles say about locks.
//
// Every holder increments a counter that only the lock protects. A lock whose
// counter is not exact let two holders in, and its figures are void.
package bench

import (
	"context"
	"fmt"
	"slices"
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
	Crowd      []string      `placeholder:"NAME" help:"Only these also with the last number of contenders. Default: all."`
	Rounds     int           `default:"3" help:"How often everything is measured, in alternating order."`
	For        time.Duration `default:"2s" help:"How long one lock is measured at a time; longer if its contenders would not all get their turns."`

	// Progress is called before each pass.
	Progress func(done, total int, what string) `kong:"-"`
}

// A Scene is one lock under one load.
type Scene struct {
	Lock       string `json:"lock"`
	Foreign    bool   `json:"foreign"`
	Contenders int    `json:"contenders"` // 1: uncontended, acquired and released without a pause
	Passes     []Pass `json:"passes"`
	Error      string `json:"error,omitempty"` // why it could not be measured

	candidate Candidate
	shape     shape
}

func (c Candidate) under(s shape) *Scene {
	return &Scene{Lock: c.Name, Foreign: c.Foreign, Contenders: s.contenders, candidate: c, shape: s}
}

// valid reports that it was measured in full, and that its lock let no two in.
func (s *Scene) valid() bool { return s.Error == "" && len(s.Passes) > 0 && s.lost() == 0 }

func (s *Scene) lost() (n int) {
	for _, p := range s.Passes {
		n += p.Lost
	}
	return n
}

func (s *Scene) series(of figure) measure.Series {
	return measure.SeriesOf(s.Passes, func(p Pass) (int, float64, bool) { return p.Round, of(p), true })
}

func (s *Scene) spread(of figure) measure.Spread { return s.series(of).Spread() }

// A Report is what one run measured of locks.
type Report struct {
	Header
	HoldMS float64  `json:"hold_ms"`
	Rounds int      `json:"rounds"`
	Scenes []*Scene `json:"scenes"`
}

// A Header says where and when a run was made.
type Header struct {
	Command string           `json:"command"`
	Began   time.Time        `json:"began"`
	Machine measure.Machine  `json:"machine"`
	Servers []backend.Status `json:"servers"`
}

// Ran notes by which command, and on which servers.
func (h *Header) Ran(command string, servers []backend.Status) {
	h.Command, h.Servers = command, servers
}

func newHeader() Header { return Header{Began: time.Now(), Machine: measure.ThisMachine()} }

func (h Header) run() measure.Run { return measure.RunOf(h.Command, h.Began, h.Machine, h.Servers) }

// Run measures all candidates, alone and contended. If ctx ends first, Run
// returns the figures until then with the error. A lock that fails has an error
// in its Scene and does not stop the others.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := &Report{Header: newHeader(), HoldMS: measure.Milliseconds(o.Hold), Rounds: o.Rounds}
	for i, n := range append([]int{1}, o.Contenders...) {
		for _, c := range o.Candidates {
			if last := i > 0 && i == len(o.Contenders); !last || o.Crowd == nil || slices.Contains(o.Crowd, c.Key) {
				r.Scenes = append(r.Scenes, c.under(o.shape(n)))
			}
		}
	}
	return r, o.measure(ctx, r.Scenes)
}

// turns is how often each contender of a fair lock gets it in one pass, at
// least; with fewer, fewest/most says nothing.
const turns = 10

func (o Options) shape(contenders int) shape {
	if contenders == 1 {
		return shape{contenders: 1, warm: o.For / 10, measured: o.For}
	}
	round := time.Duration(contenders) * o.Hold
	return shape{
		contenders: contenders,
		hold:       func() time.Duration { return o.Hold },
		warm:       max(o.For/10, round*3/2), measured: max(o.For, turns*round),
	}
}

func (o Options) measure(ctx context.Context, scenes []*Scene) error {
	for turn := range measure.Turns(o.Rounds, len(scenes)) {
		s := scenes[turn.Subject]
		o.Progress(turn.Done, turn.Total, s.Lock+", "+crowd(s.Contenders))
		if s.Error != "" {
			continue
		}
		pass, err := s.candidate.pass(ctx, o.Backends, s.shape)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			s.Error = err.Error()
		default:
			pass.Round = turn.Round
			s.Passes = append(s.Passes, pass)
		}
	}
	return nil
}

func crowd(contenders int) string {
	if contenders == 1 {
		return "uncontended"
	}
	return fmt.Sprint(contenders, " contenders")
}

// Overlaps names the locks that let two holders in at a time.
func (r *Report) Overlaps() []string {
	return r.locks(func(s *Scene) bool { return s.lost() > 0 })
}

// Failed names the locks that could not be measured in full.
func (r *Report) Failed() []string {
	return r.locks(func(s *Scene) bool { return s.Error != "" })
}

func (r *Report) locks(with func(*Scene) bool) (names []string) {
	for _, s := range r.Scenes {
		if with(s) && !slices.Contains(names, s.Lock) {
			names = append(names, s.Lock)
		}
	}
	return names
}
