package backend

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// A client that hangs whatever its context says is asked once; those who want
// to know are told that it does not answer.
func TestHangingBackendIsAskedOnce(t *testing.T) {
	var in Instance
	var asked atomic.Int64
	release, asking := make(chan error), make(chan bool, 99)
	b := askedBy(func(context.Context) error {
		asked.Add(1)
		asking <- true
		return <-release
	})
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := in.ask(ctx, b); err == nil {
			t.Error("it is well, and it hangs")
		}
	}
	<-asking
	if asked.Load() != 1 {
		t.Errorf("it was asked %d times, want once", asked.Load())
	}
	down := errors.New("down")
	release <- down
	go func() { release <- nil }()
	for n := 0; asked.Load() < 2; n++ { // the first answer may still be on its way
		if err := in.ask(t.Context(), b); err != nil && !errors.Is(err, down) || n > 1 {
			t.Fatalf("after %d: %v", n, err)
		}
	}
}

func askedBy(ask func(context.Context) error) asked { return asked{name: "it", ask: ask} }
