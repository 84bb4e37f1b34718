package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"seckill/internal/history"
)

// history opens the folder that outlives the lab. Without a home folder nothing
// is kept, and the user is told.
func (u *UpCmd) history(stderr io.Writer) *history.Folder {
	if u.History != nil {
		return history.Open(*u.History)
	}
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) { // as the specification wants
		home, err := os.UserHomeDir()
		if err != nil || !filepath.IsAbs(home) {
			fmt.Fprintln(stderr, "There is no home folder: runs and comparisons are forgotten when the lab ends. (--history DIR keeps them.)")
			return history.Open("")
		}
		data = filepath.Join(home, ".local", "share")
	}
	return history.Open(filepath.Join(data, "seckill"))
}
