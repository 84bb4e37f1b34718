package main

import (
	"context"
	"errors"
	"io"
	"testing"
)

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
