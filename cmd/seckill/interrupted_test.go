package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"seckill/internal/lab"
	"seckill/loadtest"
)

// A run that is interrupted while its lab starts proves nothing, and says what is left.
func TestInterruptedWhileServicesStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var said strings.Builder
	_, _, err := startPlace(ctx, &said, lab.Options{Host: host(), Backends: []string{}}, func(*lab.Lab) error {
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
	if err := (table{Writer: io.Discard}).read(ctx, nil, in); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}
