package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// steps shows progress: a line that changes on a terminal, or one line per step.
// clear removes it.
func steps(stderr stderrWriter, quiet bool) (show func(done, total int, what string), clear func()) {
	if quiet {
		return func(int, int, string) {}, func() {}
	}
	begun := time.Now()
	_, terminal := columns(stderr.Writer)
	show = func(done, total int, what string) {
		line := fmt.Sprintf("%6s  %4d/%d  %s", time.Since(begun).Round(time.Second), done+1, total, what)
		if !terminal {
			fmt.Fprintln(stderr, line)
			return
		}
		if width, _ := columns(stderr.Writer); width > 0 { // a line that wraps cannot be written over
			line = string([]rune(line)[:min(len([]rune(line)), width-1)])
		}
		fmt.Fprint(stderr, "\r\x1b[K"+line)
	}
	return show, func() {
		if terminal {
			fmt.Fprint(stderr, "\r\x1b[K")
		}
	}
}

// columns is the width of w, if it is a terminal that can move its cursor.
func columns(w io.Writer) (n int, ok bool) {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}
