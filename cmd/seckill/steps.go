package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// stepPrinter returns functions that show and clear the progress: a line that changes on a terminal,
// elsewhere one line per step.
func stepPrinter(stderr stderrWriter, quiet bool) (show func(done, total int, what string), clear func()) {
	if quiet {
		return func(int, int, string) {}, func() {}
	}
	begun := time.Now()
	terminal := isTerminal(stderr.Writer)
	show = func(done, total int, what string) {
		line := fmt.Sprintf("%6s  %4d/%d  %s", time.Since(begun).Round(time.Second), done+1, total, what)
		if !terminal {
			fmt.Fprintln(stderr, line)
			return
		}
		overwriteLine(stderr, line)
	}
	return show, func() {
		if terminal {
			overwriteLine(stderr, "")
		}
	}
}

// overwriteLine shows text on a terminal, in place of the line before. It cuts the text, because a
// line that wraps cannot be overwritten.
func overwriteLine(stderr stderrWriter, text string) {
	line := []rune(text)
	fmt.Fprintf(stderr, "\r%s\x1b[K", string(line[:min(len(line), 79)]))
}

// isTerminal reports whether w is a terminal that can move its cursor.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}
