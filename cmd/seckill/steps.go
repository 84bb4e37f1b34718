package main

import (
	"cmp"
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
		overwrite(stderr, line)
	}
	return show, func() {
		if terminal {
			overwrite(stderr, "")
		}
	}
}

// overwrite shows text on a terminal, in place of the line that it showed before.
func overwrite(stderr stderrWriter, text string) {
	line := []rune(text)
	width, _ := columns(stderr.Writer)
	// A line that wraps cannot be written over, and in some terminals a full one wraps.
	fmt.Fprintf(stderr, "\r%s\x1b[K", string(line[:min(len(line), cmp.Or(width, 80)-1)]))
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
