package e2e

import (
	"fmt"
	"os"
	"testing"

	"seckill/internal/lab/labtest"
)

// folder contains the files that all tests share. It is removed at the end of the test program.
var folder string

func TestMain(m *testing.M) {
	labtest.HearSignals()
	os.Exit(run(m))
}

func run(m *testing.M) (status int) {
	var err error
	if folder, err = os.MkdirTemp("", "seckill-e2e-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	status = m.Run()
	if shared != nil {
		if err := shared.end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
	}
	if chromium.stop != nil {
		if err := chromium.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "close the browser:", err)
			return 1
		}
	}
	return status
}
