package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/loadtest"
)

func TestDoctor(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	labtest.Must(t, DoctorCmd{}.Run(t.Context(), &out))
	if n := len(regexp.MustCompile(`(?m)^ok .+ /.+`).FindAllString(out.String(), -1)); n < len(lab.ServerTools)-1 {
		t.Errorf("the servers that the tests need should be found (run: deploy/deps.sh):\n%s", &out)
	}
	t.Setenv("PATH", "/nowhere")
	t.Setenv("ZOOKEEPER_HOME", "")
	out.Reset()
	labtest.Must(t, DoctorCmd{}.Run(t.Context(), &out))
	for _, line := range regexp.MustCompile(`(?m)^-- +(\S+).*`).FindAllStringSubmatch(out.String(), -1) {
		if !strings.Contains(out.String(), "\n"+line[1]) {
			t.Errorf("%s is missing, and nothing is said of it:\n%s", line[1], &out)
		}
	}
	// In a container there is nothing to install: all servers are given.
	out.Reset()
	labtest.Must(t, DoctorCmd{Given: backend.Config{RedisAddrs: []string{"127.0.0.1:1"}}}.Run(t.Context(), &out))
	if said := out.String(); !strings.Contains(said, "Servers were given") || strings.Contains(said, "deps.sh") {
		t.Errorf("where servers are given, it says:\n%s", said)
	}
}

func TestWhereTheHistoryIs(t *testing.T) {
	data, home, given := t.TempDir(), t.TempDir(), t.TempDir()
	for name, c := range map[string]struct {
		data, home string
		flag       *string
		want, said string
	}{
		"the system's folder": {data, home, nil, filepath.Join(data, "seckill"), ""},
		"home":                {"", home, nil, filepath.Join(home, ".local", "share", "seckill"), ""},
		"no home":             {"", "", nil, "", "--history DIR keeps them"},
		"--history":           {data, home, &given, given, ""},
		"--history=":          {data, home, new(""), "", ""},
	} {
		t.Setenv("XDG_DATA_HOME", c.data)
		t.Setenv("HOME", c.home)
		var said strings.Builder
		folder := (&UpCmd{History: c.flag}).historyFolder(&said)
		if string(folder) != c.want || !strings.Contains(said.String(), c.said) || (said.Len() > 0) != (c.said != "") {
			t.Errorf("%s: the history is in %q, want %q; said: %q", name, folder, c.want, said.String())
		}
	}
}

// A run that is interrupted while its lab starts proves nothing, and names the processes that are left.
func TestInterruptedWhileServicesStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var said strings.Builder
	_, _, err := startPlace(ctx, &said, lab.Options{Host: thisHost(), Backends: []string{}}, func(*lab.Lab) error {
		cancel()
		return errors.New("a process is left")
	})
	if !errors.Is(err, exitStatus(loadtest.ExitNotValid)) || !strings.Contains(said.String(), "a process is left") {
		t.Errorf("it ended with %v and said %q", err, said.String())
	}
}

// Ctrl-C ends a game that waits for the next line.
func TestAGameEndsWhileItWaitsForInput(t *testing.T) {
	in, typing := io.Pipe()
	defer typing.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (table{Writer: io.Discard}).playInput(ctx, nil, in); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}
