package labtest

import (
	"os"
	"os/signal"
	"syscall"
)

// HearSignals lets the children of this program receive SIGHUP, SIGINT and SIGQUIT, even if this program was started to
// ignore them, by nohup or as the background job of a script. A child inherits ignored signals, but not caught ones. So
// HearSignals catches the ignored signals and drops them. Main calls it.
func HearSignals() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}
