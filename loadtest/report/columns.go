package report

import (
	"os"

	"golang.org/x/sys/unix"
)

// Columns is the width of the terminal f; ok is false if it is not a terminal.
func Columns(f *os.File) (n int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}
