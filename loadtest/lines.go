package loadtest

import (
	"fmt"
	"io"
	"math"
	"time"
)

// Lines shows a run where there is no terminal: a line about every second, of
// which a log keeps all. A run that is over sooner has none.
type Lines struct {
	W     io.Writer
	Stock int64 // units for sale in all; 0: not known

	last Progress // that was shown
}

const lineEvery = time.Second

// Show writes a line if the last is old enough.
func (l *Lines) Show(p Progress) {
	since := p.Elapsed - l.last.Elapsed
	if since < lineEvery && (!p.Settling || l.last.Settling || l.last.Elapsed == 0) {
		return
	}
	p.Rate = float64(p.Requests-l.last.Requests) / since.Seconds()
	l.last = p
	frame := &Live{Stock: l.Stock}
	fmt.Fprintln(l.W, frame.line(append(p.course(), frame.figures(p)...), math.MaxInt))
}
