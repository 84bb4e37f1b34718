package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Standard output takes nothing, and the result is not lost.
func TestLoadOnAFullDisk(t *testing.T) {
	_, urls := sharedServices(t)
	in := labtest.Instance(t, backend.SQL)
	for _, temp := range []string{t.TempDir(), "/nowhere"} { // where the rescue goes
		t.Setenv("TMPDIR", temp)
		var stderr bytes.Buffer
		status := run(t.Context(), func() {}, []string{"load", "--target", strings.Join(urls, ","), "--strategy", "conditional",
			"--stock", "10", "--buyers", "50", "--concurrency", "8", "--mysql-dsn", in.Config.MySQLDSN}, fullDisk{}, &stderr)
		if status != statusFailed || !strings.Contains(stderr.String(), "no space left on device (the verdict was: held)") {
			t.Errorf("exit status %d: %s", status, &stderr)
		}
		if temp == "/nowhere" {
			if !strings.Contains(stderr.String(), "served: 10 of 10 units") {
				t.Errorf("the result is nowhere: %s", &stderr)
			}
			continue
		}
		saved, _ := filepath.Glob(filepath.Join(temp, "seckill-load-*.json"))
		if len(saved) != 1 || !strings.Contains(stderr.String(), saved[0]) {
			t.Fatalf("%v is kept: %s", saved, &stderr)
		}
		data, err := os.ReadFile(saved[0])
		if err != nil {
			t.Fatal(err)
		}
		var r loadtest.Result
		if err := json.Unmarshal(data, &r); err != nil || r.Verdict != ledger.Held {
			t.Errorf("the kept result says %q: %v", r.Verdict, err)
		}
	}
}
