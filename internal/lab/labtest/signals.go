package labtest

import (
	"os"
	"os/signal"
	"syscall"
)

// HearSignals lets what the tests start hear of SIGHUP, SIGINT and SIGQUIT,
// also where this program was told to ignore them (by nohup, or as a script's
// background job): a child inherits what is ignored, and does not inherit what
// is caught. This program goes on as if it still ignored them. It is a part of
// Main, for a TestMain that does without.
func HearSignals() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}
