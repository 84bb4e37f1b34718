package tap_test

import (
	"context"
	"errors"
	"testing"

	"seckill/internal/tap"
)

var errNoAnswer = errors.New("no answer in time")

// delay keeps the first command of a name.
func delay(name string, kept *func(context.Context) error) *recorder {
	return &recorder{before: func(c *tap.Command) error {
		if c.Name != name || *kept != nil {
			return nil
		}
		return &tap.Late{Err: errNoAnswer, Keep: func(deliver func(context.Context) error) { *kept = deliver }}
	}}
}

// A COMMIT that is late leaves its transaction open until it arrives; its sender
// goes on, on another connection.
func TestLateCommitArrives(t *testing.T) {
	db := openSQL(t)
	var deliver func(context.Context) error
	ctx, cancel := context.WithCancel(tap.With(t.Context(), delay("COMMIT", &deliver)))
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO t VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); !errors.Is(err, errNoAnswer) {
		t.Fatalf("COMMIT gave %v, want no answer", err)
	}
	cancel() // its sender has left
	if n := rows(t, db); n != 0 {
		t.Errorf("%d rows before the COMMIT arrives", n)
	}
	if err := deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := rows(t, db); n != 1 {
		t.Errorf("%d rows when the COMMIT has arrived, want 1", n)
	}
}

// Late commands of Redis do not write into what their senders have read: alone,
// in a pipeline, in a transaction.
func TestLateRedisCommandsArrive(t *testing.T) {
	c := openRedis(t)
	for name, send := range map[string]func(context.Context) error{
		"INCR": func(ctx context.Context) error { return c.Incr(ctx, "n").Err() },
		"MULTI": func(ctx context.Context) error {
			p := c.TxPipeline()
			p.Incr(ctx, "n")
			_, err := p.Exec(ctx)
			return err
		},
	} {
		c.Del(t.Context(), "n")
		var deliver func(context.Context) error
		if err := send(tap.With(t.Context(), delay(name, &deliver))); !errors.Is(err, errNoAnswer) {
			t.Errorf("%s gave %v, want no answer", name, err)
			continue
		}
		if n, _ := c.Get(t.Context(), "n").Int(); n != 0 {
			t.Errorf("%s: %d before it arrives", name, n)
		}
		if err := deliver(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n, _ := c.Get(t.Context(), "n").Int(); n != 1 {
			t.Errorf("%s: %d when it has arrived, want 1", name, n)
		}
	}
}
