package report

import (
	"os"

	"golang.org/x/sys/windows"
)

// Columns is the width of the terminal f; ok is false if it is not a terminal.
func Columns(f *os.File) (n int, ok bool) {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0, false
	}
	return int(info.Window.Right-info.Window.Left) + 1, true
}
