package tap_test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/alicebob/miniredis/v2"
	sqlite "github.com/ncruces/go-sqlite3/driver"
	_ "github.com/ncruces/go-sqlite3/embed"
	"github.com/redis/go-redis/v9"

	"seckill/internal/lab/labtest"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

func openSQL(t testing.TB) *sql.DB {
	t.Helper()
	inner := labtest.Value((&sqlite.SQLite{}).OpenConnector("file:" + t.TempDir() + "/tap.db")).Must(t)
	db := sql.OpenDB(tap.Connector(inner, tap.SQLOptions{PreparesArgs: true}))
	t.Cleanup(func() { db.Close() })
	labtest.Value(db.Exec("CREATE TABLE t (n INTEGER)")).Must(t)
	return db
}

func rows(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	labtest.Must(t, db.QueryRow("SELECT count(*) FROM t").Scan(&n))
	return n
}

// A stopped command never runs. A command whose reply is lost has run once. A late command runs
// when it is delivered, after its sender has left, and does not write to the sender's variables.
// This holds for single commands, for pipelines and for transactions.
func TestFaults(t *testing.T) {
	db, c, fault := openSQL(t), openRedis(t), errors.New("a fault")
	for name, send := range map[string]func(context.Context) error{
		"COMMIT": func(ctx context.Context) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO t VALUES (1)"); err != nil {
				return err
			}
			return tx.Commit()
		},
		"INCR": func(ctx context.Context) error { return c.Incr(ctx, "n").Err() },
		"MULTI": func(ctx context.Context) error {
			_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Incr(ctx, "n").Err() })
			return err
		},
	} {
		var deliver func(context.Context) error
		runs := func() int {
			n, _ := c.Get(t.Context(), "n").Int()
			return n + rows(t, db)
		}
		only := func(to *tap.Command, err error) error {
			if to.Name == name {
				return err
			}
			return nil
		}
		late := &tap.Late{Err: fault, Keep: func(d func(context.Context) error) { deliver = d }}
		for what, f := range map[string]struct {
			tap  *taptest.Tap
			runs int
		}{
			"stopped": {&taptest.Tap{OnBefore: func(c *tap.Command) error { return only(c, fault) }}, 0},
			"lost":    {&taptest.Tap{OnAfter: func(c *tap.Command, err error) error { return cmp.Or(only(c, fault), err) }}, 1},
			"late":    {&taptest.Tap{OnBefore: func(c *tap.Command) error { return only(c, late) }}, 0},
		} {
			c.Del(t.Context(), "n")
			labtest.Value(db.Exec("DELETE FROM t")).Must(t)
			var sent tap.Counter
			ctx, leave := context.WithCancel(tap.With(tap.Counting(t.Context(), &sent), f.tap))
			err := send(ctx)
			leave()
			if n := sent.Count(tap.Redis); name != "COMMIT" && n != uint64(f.runs) {
				t.Errorf("%s, %s: %d commands were counted, want %d", name, what, n, f.runs)
			}
			if !errors.Is(err, fault) || runs() != f.runs {
				t.Errorf("%s, %s: its sender is told %v, and it ran %d times; want a fault and %d", name, what, err, runs(), f.runs)
			}
			if what != "late" {
				continue
			}
			labtest.Check(t, deliver(t.Context()), nil, "%s, arrived late", name)
			labtest.Same(t, runs(), 1, "how often %s ran, which arrived late", name)
		}
	}
}

func TestLostReplyOfBeginLeavesNothingOpen(t *testing.T) {
	db, lost := openSQL(t), errors.New("reply lost")
	r := &taptest.Tap{OnAfter: func(*tap.Command, error) error { return lost }}
	labtest.Value(db.BeginTx(tap.With(t.Context(), r), nil)).Check(t, lost, "BEGIN")
	// If the transaction were still open, this BEGIN would fail on its connection.
	labtest.Value(db.Exec("BEGIN IMMEDIATE; ROLLBACK")).Check(t, nil, "after a BEGIN whose reply was lost")
}

func openRedis(t testing.TB) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr(), MaxRetries: -1})
	c.AddHook(tap.RedisHook{})
	t.Cleanup(func() { c.Close() })
	return c
}

// A reader is a Tap that records replies.
type reader struct {
	taptest.Tap
	replies []string
}

func (r *reader) After(_ context.Context, c *tap.Command, err error) error {
	r.replies = append(r.replies, c.Name+": "+c.Reply)
	return err
}

func TestSQLReplies(t *testing.T) {
	db, r := openSQL(t), &reader{}
	ctx := tap.With(t.Context(), r)
	for _, n := range []any{1, 2, 3, 4, nil, 6} {
		labtest.Value(db.ExecContext(ctx, "INSERT INTO t VALUES (?)", n)).Must(t)
	}
	r.replies = nil
	// The caller still gets the rows that the Tap has read ahead.
	rows := labtest.Value(db.QueryContext(ctx, "SELECT n FROM t ORDER BY rowid")).Must(t)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var n sql.NullString
		labtest.Must(t, rows.Scan(&n))
		all = append(all, n.String)
	}
	labtest.Must(t, rows.Err())
	labtest.Same(t, all, []string{"1", "2", "3", "4", "", "6"}, "the caller reads")
	var n, m sql.NullInt64
	labtest.Must(t, db.QueryRowContext(ctx, "SELECT n, n + 1 AS m FROM t WHERE n = 2").Scan(&n, &m))
	labtest.Must(t, db.QueryRowContext(ctx, "SELECT n, 7 AS seven FROM t WHERE n IS NULL").Scan(&n, &m))
	labtest.Check(t, db.QueryRowContext(ctx, "SELECT n FROM t WHERE n = 99").Scan(&n), sql.ErrNoRows, "no row")
	want := []string{"SELECT: 1; 2; 3; …", "SELECT: n = 2, m = 3", "SELECT: n = NULL, seven = 7", "SELECT: no row"}
	labtest.Same(t, r.replies, want, "the replies")
}

// The error redis.Nil of one command does not affect the other commands of its pipeline.
func TestAMissingKeyInAPipeline(t *testing.T) {
	r := &reader{}
	var number *redis.IntCmd
	openRedis(t).TxPipelined(tap.With(t.Context(), r), func(p redis.Pipeliner) error {
		p.Get(t.Context(), "gone")
		number = p.Incr(t.Context(), "n")
		return nil
	})
	if want := []string{"MULTI: (nil); 1"}; number.Err() != nil || !slices.Equal(r.replies, want) {
		t.Errorf("the neighbour says %v, the replies are %q, want %q", number.Err(), r.replies, want)
	}
}

// BenchmarkTap sends a command without a Tap, with a Counter, and with a Tap that does nothing.
func BenchmarkTap(b *testing.B) {
	c := openRedis(b)
	for name, ctx := range map[string]context.Context{"none": b.Context(), "counter": tap.Counting(b.Context(), new(tap.Counter)),
		"tap": tap.With(b.Context(), &taptest.Tap{})} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				labtest.Must(b, c.Incr(ctx, "n").Err())
			}
		})
	}
}
