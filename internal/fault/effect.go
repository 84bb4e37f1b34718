package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"seckill/internal/fault/point"
	"seckill/internal/lab"
)

// An Effect is what became of a fault.
type Effect struct {
	// Took: it happened, and was seen to: the process stood still, was gone, the
	// data was lost, the session was another.
	Took bool `json:"took_effect"`
	// Matters: it happened while units were left and a purchase was under way
	// where it happened. Where that could not be found out, it is taken to.
	Matters bool `json:"could_matter"`
	// Why it took no effect, or could not matter; "" if it did and could.
	Why Why `json:"why,omitempty"`

	Service  int           `json:"service,omitempty"`    // which process, from 1; 0: a server
	Left     *int64        `json:"units_left,omitempty"` // just before
	InFlight *int64        `json:"in_flight,omitempty"`  // purchases in that process, just before
	Stood    int           `json:"stood_ms,omitempty"`   // how long it, or the purchase, stood still
	Holder   *point.Holder `json:"holder,omitempty"`     // the purchase that was caught
	At       point.Name    `json:"point,omitempty"`      // and where
}

// A Why says why a fault could do nothing.
type Why string

const (
	NoUnits    Why = "no_units"    // the stock was gone
	Idle       Why = "idle"        // the process had no purchase under way
	NoPoint    Why = "no_point"    // the strategy does not read before it writes
	NotReached Why = "not_reached" // no purchase reached the point
	WentOn     Why = "went_on"     // it ended before it should have
	DataKept   Why = "data_kept"   // the server came back with its data
	// NothingPassed: nothing was sent over the link, or there was no reply to lose.
	NothingPassed Why = "nothing_passed"
	NotMet        Why = "not_met" // the server let no command wait
)

// weigh decides whether it could matter, from what was seen just before.
func (e *Effect) weigh() {
	switch {
	case !e.Took:
		e.Matters = false
	case e.Left != nil && *e.Left <= 0 && e.Holder == nil:
		e.Matters, e.Why = false, NoUnits
	case e.InFlight != nil && *e.InFlight == 0 && e.Holder == nil:
		e.Matters, e.Why = false, Idle
	default:
		e.Matters = true
	}
}

// void: it took no effect after all.
func (e *Effect) void(why Why) { e.Took, e.Matters, e.Why = false, false, why }

// busy looks again while no purchase is under way and units are left, if the aim
// says so.
func (s *scene) busy(ctx context.Context, number int) (seen Effect) {
	_ = lab.Await(ctx, looking, func(context.Context) error { // a look has its own limit: the last one is not cut off
		seen = s.look(ctx, number)
		if !s.aim.Busy || seen.InFlight == nil || *seen.InFlight > 0 || seen.Left != nil && *seen.Left <= 0 {
			return nil
		}
		return errors.New("no purchase is under way")
	})
	return seen
}

// look is what the service process of this number, or all for 0, says just before
// something comes to harm; what it does not say is not known.
func (s *scene) look(ctx context.Context, number int) Effect {
	ctx, cancel := context.WithTimeout(ctx, looking)
	defer cancel()
	e := Effect{Service: number}
	for i, p := range s.lab.ServiceProcesses() {
		if number > 0 && number != i+1 || !p.Alive() || p.Paused() {
			continue
		}
		said, err := points(p).State(ctx, s.aim.Strategy, s.aim.SKU)
		if err != nil {
			return Effect{Service: number}
		}
		if e.InFlight == nil {
			e.InFlight = new(int64)
		}
		*e.InFlight += said.InFlight
		e.Left = said.Left
	}
	return e
}

// looking bounds how long a fault waits to hear what is left.
const looking = time.Second

// A Lack is why a fault cannot be had here: a code with what it is about, for
// those who have sentences of their own, and one in English.
type Lack struct {
	Code   string         `json:"code"`
	Params map[string]any `json:"params,omitempty"`
	text   string
}

// Codes of Lacks.
const (
	LackServer   = "no_server"      // name: it is not one server of the lab's own
	LackLink     = "no_link"        // name: services reach it directly
	LackTopology = "other_topology" // name, topology: it is one server here
)

// NewLack is a Lack with its sentence in English.
func NewLack(code string, params map[string]any, format string, args ...any) *Lack {
	return &Lack{code, params, fmt.Sprintf(format, args...)}
}

// String is the sentence; "" of nil, which means that nothing is lacking.
func (l *Lack) String() string {
	if l == nil {
		return ""
	}
	return l.text
}
