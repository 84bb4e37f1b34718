//go:build unix

package loadtest

import (
	"os"

	"golang.org/x/sys/unix"
)

// Columns is the width of the terminal that f is; ok is false if it is none.
func Columns(f *os.File) (n int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}
