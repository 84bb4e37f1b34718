package backend_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/tap"
)

// stream makes a stream that keeps two messages.
func stream(t *testing.T, c *backend.JetStreamClient) backend.Stream {
	t.Helper()
	name := strings.ReplaceAll(t.Name(), "/", "-")
	s := backend.Stream{Name: name, Subject: "test." + name, PerSubject: 2}
	if err := c.CreateStream(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.DeleteStream(context.Background(), s.Name) })
	return s
}

func TestJetStreamCommandsPassTheTap(t *testing.T) {
	c, r := labtest.Instance(t, backend.JetStream).JetStream, &recorder{}
	ctx := tap.With(t.Context(), r)
	s := stream(t, c)
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	must("make it again", c.CreateStream(ctx, s))
	first, err := c.Publish(ctx, s.Subject, "a", []byte("one"))
	must("publish", err)
	if again, err := c.Publish(ctx, s.Subject, "a", []byte("two")); err != nil || !again.Duplicate || again.Seq != first.Seq {
		t.Errorf("the same id again: %+v, %v; want a duplicate of %d", again, err, first.Seq)
	}
	second, err := c.Publish(ctx, s.Subject, "b", nil)
	must("publish", err)
	if _, err := c.Publish(ctx, s.Subject, "c", nil); !errors.Is(err, backend.ErrStreamFull) {
		t.Errorf("a third message: %v, want that it is full", err)
	}
	if _, err := c.Publish(ctx, s.Subject+".no", "d", nil); !errors.Is(err, backend.ErrNoStream) {
		t.Errorf("a subject of no stream: %v", err)
	}
	got, err := c.Messages(ctx, s.Name, 0, 10)
	must("get", err)
	if len(got) != 2 || got[0].ID != "a" || string(got[0].Data) != "one" || got[1].Seq != second.Seq {
		t.Errorf("the messages are %+v", got)
	}
	if got, err := c.Messages(ctx, s.Name, 0, 1); err != nil || len(got) != 1 {
		t.Errorf("one message at most: %+v, %v", got, err)
	}
	must("delete", c.Delete(ctx, s.Name, first.Seq))
	must("delete it again", c.Delete(ctx, s.Name, first.Seq))
	must("delete what never was", c.Delete(ctx, s.Name, 999))
	if got, err := c.Messages(ctx, s.Name, second.Seq+1, 10); err != nil || len(got) != 0 {
		t.Errorf("after the last message: %+v, %v", got, err)
	}
	if _, err := c.Publish(ctx, s.Subject, "c", nil); err != nil {
		t.Errorf("a place is free again: %v", err)
	}
	for id, want := range map[string]bool{"b": true, "never": false} {
		if there, err := c.Remembers(ctx, s.Subject, id); err != nil || there != want {
			t.Errorf("it remembers %s: %t, %v", id, there, err)
		}
	}
	must("shorten its memory", c.SetWindow(ctx, s.Name, 100*time.Millisecond))
	for there := true; there; {
		there, err = c.Remembers(t.Context(), s.Subject, "b")
		must("look", err)
	}
	if names, err := c.Streams(ctx, "test.*"); err != nil || !slices.Contains(names, s.Name) {
		t.Errorf("the streams of test.*: %v, %v", names, err)
	}
	must("remove", c.DeleteStream(ctx, s.Name))
	must("remove it again", c.DeleteStream(ctx, s.Name))
	if _, err := c.Messages(ctx, s.Name, 0, 1); !errors.Is(err, backend.ErrNoStream) {
		t.Errorf("messages of no stream: %v", err)
	}
	if len(r.seen) < 20 {
		t.Errorf("the tap saw %d commands: %v", len(r.seen), r.seen)
	}
}

// A command without a connection is never sent later; one whose connection
// breaks has no outcome; and a killed instance sends nothing.
func TestJetStreamConnectionBreaks(t *testing.T) {
	in := labtest.Instance(t, backend.JetStream)
	s := stream(t, in.JetStream)
	for i := range 20 {
		in.Dialer.Cut()
		// It may be sent on the old connection, and then has no answer.
		_, err := in.JetStream.Publish(t.Context(), s.Subject, "x", nil)
		if err != nil && !strings.Contains(err.Error(), "NATS") {
			t.Errorf("publish %d after a cut: %v", i, err)
		}
	}
	for err := errors.New("none"); err != nil; { // it comes back by itself
		_, err = in.JetStream.Publish(t.Context(), s.Subject, "x", nil)
	}
	if got, err := in.JetStream.Messages(t.Context(), s.Name, 0, 10); err != nil || len(got) != 1 {
		t.Errorf("one id was stored as %+v, %v", got, err)
	}
	in.Kill()
	if _, err := in.JetStream.Publish(t.Context(), s.Subject, "y", nil); err == nil {
		t.Error("a killed instance published")
	}
	// The library hears of it a moment later.
	for begun := time.Now(); ; {
		_, err := in.JetStream.Publish(t.Context(), s.Subject, "y", nil)
		if errors.Is(err, backend.ErrKilled) {
			break
		}
		if err == nil || time.Since(begun) > 10*time.Second {
			t.Fatalf("a killed instance says %v, want that it was killed", err)
		}
	}
}

func TestJetStreamAddresses(t *testing.T) {
	_, err := backend.Open(t.Context(), backend.Config{JetStreamURLs: []string{"nats://me:secret@127.0.0.1:1"}})
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") || strings.Contains(err.Error(), "secret") {
		t.Errorf("no server there: %v", err)
	}
	target := labtest.Instance(t, backend.JetStream).Config.JetStreamURLs[0]
	in, err := backend.Open(t.Context(), backend.Config{JetStreamURLs: []string{"nats://" + target}})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if s := in.Status(t.Context()); len(s) != 1 || !s[0].OK || !strings.HasPrefix(s[0].Version, "NATS 2.") {
		t.Errorf("the status is %+v", s)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("gone"))
	if _, err := in.JetStream.Publish(ctx, "test.no", "x", nil); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("a caller who has gone: %v", err)
	}
}
