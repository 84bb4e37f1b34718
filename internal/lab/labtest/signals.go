package labtest

import (
	"os"
	"os/signal"
	"syscall"
)

// HearSignals lets the child processes of this program receive SIGHUP, SIGINT and SIGQUIT. This program ignores some of
// these signals if nohup or a script in the background has started it. Child processes would inherit this. They do not
// inherit caught signals, so HearSignals catches the ignored signals and does nothing about them. Main calls
// HearSignals.
func HearSignals() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}
