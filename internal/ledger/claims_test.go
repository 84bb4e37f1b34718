package ledger_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// twoClaims are of two processes on one database, whose SKU has 5 units.
func twoClaims(t *testing.T) (here, there *ledger.Claims, in *backend.Instance, s *ledger.Store, run int64) {
	t.Helper()
	s, in = onServer(t)
	other, err := backend.Open(t.Context(), in.Config)
	labtest.Must(t, err)
	t.Cleanup(func() { other.Close() })
	set, err := s.Reset(t.Context(), sku, "", 5)
	labtest.Must(t, err)
	return ledger.NewClaims(s, in.KeyDB, in.Database, 10*time.Second), ledger.NewClaims(ledger.NewStore(other.DB), other.KeyDB, in.Database, 10*time.Second), in, s, set.Run
}

func take(t *testing.T, c *ledger.Claims, user int64, key string) *ledger.Claim {
	t.Helper()
	claim, err := c.Take(t.Context(), user, key)
	if err != nil {
		t.Fatalf("claim %s of user %d: %v", key, user, err)
	}
	return claim
}

// A key is one copy's at a time, in its process and in another one.
func TestAKeyIsClaimedOnce(t *testing.T) {
	here, there, _, _, _ := twoClaims(t)
	claim := take(t, here, 1, "k")
	for name, c := range map[string]*ledger.Claims{"this process": here, "the other process": there} {
		if _, err := c.Take(t.Context(), 1, "k"); !errors.Is(err, ledger.ErrInProgress) {
			t.Errorf("a copy in %s: %v, want %v", name, err, ledger.ErrInProgress)
		}
	}
	take(t, there, 2, "k").Release(t.Context()) // another user's
	if !claim.Release(t.Context()) {
		t.Error("a claim that nothing disturbed was not held until its release")
	}
	take(t, there, 1, "k").Release(t.Context())
}

// An order is written only while its claim is held: by every way of writing one.
func TestAnOrderNeedsItsClaim(t *testing.T) {
	here, there, in, s, run := twoClaims(t)
	ways := map[string]func(p seckill.Purchase) error{
		"Record": func(p seckill.Purchase) error {
			return s.Tx(t.Context(), func(tx *gorm.DB) error { _, err := s.Record(tx, p, run, 1); return err })
		},
		"RecordAlone": func(p seckill.Purchase) error { _, err := s.RecordAlone(t.Context(), p, run, 1); return err },
		"Place": func(p seckill.Purchase) error {
			return s.Tx(t.Context(), func(tx *gorm.DB) error { _, _, err := s.Place(tx, p, run, 0); return err })
		},
		"PlaceAll": func(p seckill.Purchase) error {
			other := p
			other.User, other.RequestID, other.Fence = p.User+1000, "without a key", ""
			batch := []*ledger.Entry{{Purchase: other}, {Purchase: p}}
			return s.Tx(t.Context(), func(tx *gorm.DB) error {
				ok, err := s.PlaceAll(tx, run, 5, batch)
				if err == nil && !ok {
					if batch[0].Refused || !batch[1].Refused {
						t.Errorf("PlaceAll refuses %t the purchase without a key, %t the one whose claim is lost", batch[0].Refused, batch[1].Refused)
					}
					err = ledger.ErrInProgress
				}
				return err
			})
		},
	}
	user := int64(0)
	for way, write := range ways {
		user += 2
		kept := take(t, here, user, way)
		if err := write(seckill.Purchase{SKU: sku, User: user, Quantity: 1, RequestID: way, Fence: kept.Fence}); err != nil {
			t.Errorf("%s with a claim: %v", way, err)
		}
		kept.Release(t.Context())

		lost := take(t, here, user+1, way)
		var session int64
		labtest.Must(t, in.DB.Raw("SELECT IS_USED_LOCK(?)", lost.Fence).Scan(&session).Error)
		labtest.Must(t, in.DB.Exec(fmt.Sprintf("KILL %d", session)).Error)
		late := seckill.Purchase{SKU: sku, User: user + 1, Quantity: 1, RequestID: way, Fence: lost.Fence}
		var copied *ledger.Claim // the server ends a session in its own time
		for copied == nil && t.Context().Err() == nil {
			copied, _ = there.Take(t.Context(), user+1, way)
		}
		take(t, here, user+500, way).Release(t.Context()) // of a process whose session is lost: on a new one
		err := write(late)
		if !errors.Is(err, ledger.ErrInProgress) || way != "PlaceAll" && !seckill.NothingTaken(err) {
			t.Errorf("%s when the session is lost: %v, want %v", way, err, ledger.ErrInProgress)
		}
		copied.Release(t.Context())
		if err := write(late); !errors.Is(err, ledger.ErrInProgress) {
			t.Errorf("%s when the copy has ended: %v, want %v", way, err, ledger.ErrInProgress)
		}
		if lost.Release(t.Context()) {
			t.Errorf("%s: the claim of a lost session was held until its release", way)
		}
		again := take(t, here, user+1, way) // on a new session
		if again.Order != nil {
			t.Errorf("%s: the late purchase has written %+v", way, again.Order)
		}
		if err := write(late); !errors.Is(err, ledger.ErrInProgress) {
			t.Errorf("%s of an earlier claim of the same process: %v, want %v", way, err, ledger.ErrInProgress)
		}
		again.Release(t.Context())
	}
}

// An earlier copy has written its order, and its COMMIT is under way: the next copy
// waits for it. The row of the stock, which that transaction holds, is not waited for.
func TestAClaimWaitsForAnOrderThatMayCome(t *testing.T) {
	here, there, _, s, run := twoClaims(t)
	waiting := func() (n int) {
		s.DB(t.Context()).Raw("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%LIMIT 1 FOR UPDATE%' " +
			"AND info NOT LIKE '%processlist%'").Scan(&n)
		return n
	}
	for user, commits := range map[int64]bool{1: true, 2: false} {
		const key = "k"
		first := take(t, here, user, key)
		written, end, done := make(chan struct{}), make(chan struct{}), make(chan error)
		go func() {
			done <- s.Tx(context.Background(), func(tx *gorm.DB) error {
				_, err := s.Record(tx, seckill.Purchase{SKU: sku, User: user, Quantity: 1, RequestID: key, Fence: first.Fence}, run, 4)
				if err == nil {
					_, _, err = s.Exec(tx, "UPDATE stock SET num = num - 1 WHERE id = ?", sku)
				}
				close(written)
				<-end
				if err == nil && !commits {
					err = seckill.ErrConflict
				}
				return err
			})
		}()
		<-written
		first.Release(t.Context()) // it does not wait for an answer any longer
		if _, err := s.Requested(t.Context(), 0, user+100, "another"); !errors.Is(err, seckill.ErrUnknownOrder) {
			t.Errorf("another request: %v, want %v", err, seckill.ErrUnknownOrder)
		}
		got := make(chan *ledger.Claim, 1)
		go func() { got <- take(t, there, user, key) }()
		labtest.Soon(t, "the look-up waits in the server", func() bool {
			if len(got) > 0 {
				t.Fatalf("a copy did not wait for an order that is not committed: %+v", (<-got).Order)
			}
			return waiting() > 0
		})
		close(end)
		if err := <-done; (err == nil) != commits {
			t.Fatal(err)
		}
		second := <-got
		if (second.Order != nil) != commits {
			t.Errorf("committed: %t; the copy was given %+v", commits, second.Order)
		}
		second.Release(t.Context())
	}
}

// The reply of a statement is lost, after the server has granted its key. The key is
// free then, for other processes, too.
func TestTheKeyOfAStatementThatFails(t *testing.T) {
	_, there, in, s, _ := twoClaims(t)
	config, err := mysql.ParseDSN(in.Config.MySQLDSN)
	labtest.Must(t, err)
	config.InterpolateParams = true
	server, err := mysql.NewConnector(config)
	labtest.Must(t, err)
	deaf := &deafConnector{Connector: server}
	db := sql.OpenDB(deaf)
	defer db.Close()
	db.SetMaxOpenConns(1)
	here := ledger.NewClaims(s, db, in.Database, 10*time.Second)
	kept := take(t, here, 1, "kept")

	deaf.loses.Store(1)
	if claim, err := here.Take(t.Context(), 2, "k"); err == nil {
		t.Fatalf("claimed without an answer: %+v", claim)
	}
	for claim, err := there.Take(t.Context(), 2, "k"); ; claim, err = there.Take(t.Context(), 2, "k") { // the server ends a session in its own time
		if err == nil {
			claim.Release(t.Context())
			break
		}
		if !errors.Is(err, ledger.ErrInProgress) || t.Context().Err() != nil {
			t.Fatalf("a key whose claim failed: %v at another process", err)
		}
	}
	if kept.Release(t.Context()) {
		t.Error("a claim of the session that was lost was held until its release")
	}
	take(t, here, 2, "k").Release(t.Context()) // for this process, too
}

// A deafConnector's connections lose replies to claims.
type deafConnector struct {
	driver.Connector
	loses atomic.Int64
}

func (c *deafConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	return &deafConn{conn, c}, err
}

type deafConn struct {
	driver.Conn
	of *deafConnector
}

func (c *deafConn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, q, args)
}

func (c *deafConn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.Conn.(driver.QueryerContext).QueryContext(ctx, q, args)
	if err == nil && strings.HasPrefix(q, "SELECT k.got") && c.of.loses.Add(-1) >= 0 {
		_ = rows.Close()
		return nil, errors.New("the reply is lost")
	}
	return rows, err
}

// silent is a database that answers nothing, as one behind a dead network.
type silent struct{}

func (silent) Connect(context.Context) (driver.Conn, error) { return silentConn{}, nil }
func (silent) Driver() driver.Driver                        { return nil }

type silentConn struct{}

func (silentConn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("no") }
func (silentConn) Close() error                        { return nil }
func (silentConn) Begin() (driver.Tx, error)           { return nil, errors.New("no") }
func (silentConn) QueryContext(ctx context.Context, _ string, _ []driver.NamedValue) (driver.Rows, error) {
	<-ctx.Done()
	return nil, driver.ErrBadConn
}

// Buyers who leave while the server hangs leave nothing behind: the next one who
// comes is the only one who asks.
func TestClaimsOfBuyersWhoLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sql.OpenDB(silent{})
		defer db.Close()
		db.SetMaxOpenConns(1)
		const limit = 3 * time.Second
		c := ledger.NewClaims(nil, db, "", limit)
		ask := func(user int64) error {
			ctx, cancel := context.WithTimeout(t.Context(), limit/2)
			defer cancel()
			_, err := c.Take(ctx, user, "key")
			return err
		}
		var all sync.WaitGroup
		for n := range 5000 {
			all.Go(func() {
				if err := ask(int64(n + 1)); !errors.Is(err, seckill.ErrUnavailable) {
					t.Errorf("claimed at a server that is silent: %v", err)
				}
			})
		}
		all.Wait()
		time.Sleep(3 * limit) // the statement that was under way, and the one of those who waited, end
		synctest.Wait()
		if err := ask(1); errors.Is(err, ledger.ErrInProgress) {
			t.Error("a buyer who left is still in progress")
		}
		time.Sleep(3 * limit)
	})
}

// The copy's look waits for the transaction that writes the order, and the server ends that wait: in progress is
// all that is known.
func TestAClaimWhoseLookIsEnded(t *testing.T) {
	here, there, _, s, run := twoClaims(t)
	first := take(t, here, 1, "k")
	_, err := sell(t.Context(), s, seckill.Purchase{SKU: sku, User: 1, Quantity: 1, RequestID: "k", Fence: first.Fence}, run)
	labtest.Must(t, err)
	first.Release(t.Context())
	for _, number := range []uint16{backend.MySQLDeadlock, backend.MySQLLockWaitTimeout} {
		ended := tap.With(t.Context(), &taptest.Tap{OnBefore: func(c *tap.Command) error {
			if strings.Contains(c.Text, "FOR UPDATE") {
				return &mysql.MySQLError{Number: number}
			}
			return nil
		}})
		if c, err := there.Take(ended, 1, "k"); !errors.Is(err, ledger.ErrInProgress) {
			t.Errorf("the copy got %+v, %v, want %v", c, err, ledger.ErrInProgress)
		}
	}
	take(t, there, 1, "k").Release(t.Context()) // the key is free
}
