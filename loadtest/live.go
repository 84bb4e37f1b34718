package loadtest

import (
	"fmt"
	"io"
)

// Live shows a run while it is on: two lines of a terminal that are written
// again and again. Between two frames the cursor stands at the left end of the
// first, so that whatever else is written there is gone with the next frame.
type Live struct {
	W     io.Writer
	Width func() int // columns now; the window may change
	Color bool
	Stock int64 // units for sale in all; 0: not known

	width int // of the last frame; 0: none yet
}

const (
	clearLine  = "\x1b[K"
	clearBelow = "\r\x1b[J"
	cursorUp   = "\x1b[A"
	usualWidth = 80 // of a terminal that does not know its own
)

// Show draws the run as it stands over what was drawn before.
func (l *Live) Show(p Progress) {
	width := l.Width()
	if width <= 0 {
		width = usualWidth
	}
	start := "\r"
	if width != l.width { // the old lines may be broken into more than two
		start = clearBelow
	}
	l.width = width
	// One column stays free: a full line would wrap in some terminals.
	first, second := l.frame(p, width-1)
	fmt.Fprint(l.W, start+first+clearLine+"\r\n"+second+clearLine+cursorUp+"\r")
}

// Clear removes the lines, for what is written next.
func (l *Live) Clear() {
	if l.width > 0 {
		fmt.Fprint(l.W, clearBelow)
	}
}
