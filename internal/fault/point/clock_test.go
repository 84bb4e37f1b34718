package point_test

import (
	"testing"
	"time"

	"seckill/internal/fault/point"
)

// The clock is right until it is set ahead, says how often it was looked at
// meanwhile, and is right again.
func TestTheClockJumps(t *testing.T) {
	var p point.Points
	off := func() time.Duration { return time.Until(p.Now()).Round(time.Minute) }
	if off() != 0 {
		t.Errorf("at first it is off by %v", off())
	}
	if said := p.Jump(time.Hour); said.Looks != 0 || time.Until(said.Now).Round(time.Minute) != time.Hour {
		t.Errorf("after the jump: %+v", said)
	}
	for range 3 {
		if by := off(); by != time.Hour {
			t.Errorf("it is off by %v", by)
		}
	}
	if said := p.Jump(0); said.Looks != 3 || off() != 0 {
		t.Errorf("after three looks: %+v; it is off by %v", said, off())
	}
	if said := p.Jump(0); said.Looks != 0 {
		t.Errorf("a right clock counts no looks: %+v", said)
	}
}
