package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// onServer is a ledger on MySQL or MariaDB.
func onServer(t *testing.T) *ledger.Store {
	t.Helper()
	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	if err := ledger.Migrate(t.Context(), in.DB); err != nil {
		t.Fatal(err)
	}
	return ledger.NewStore(in.DB).For("test", seckill.NopObserver{})
}

// An order that is written and not committed is waited for, by those who ask
// for this very request; the stock row, which another session holds, is not.
func TestUndecidedWaitsForTheOrderOnly(t *testing.T) {
	s := onServer(t)
	set, err := s.Reset(t.Context(), sku, "", 5)
	if err != nil {
		t.Fatal(err)
	}
	p := seckill.Purchase{SKU: sku, User: 1, Quantity: 1, RequestID: "a"}
	written, commit, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- s.Tx(context.Background(), func(tx *gorm.DB) error {
			if _, _, err := s.Exec(tx, "UPDATE stock SET num = num - 1 WHERE id = ?", sku); err != nil {
				return err
			}
			_, err := s.Record(tx, p, set.Run, 4)
			close(written)
			<-commit
			return err
		})
	}()
	<-written
	begun := time.Now()
	if _, err := s.Undecided(t.Context(), sku, 2, "another"); !errors.Is(err, seckill.ErrUnknownOrder) || time.Since(begun) > 20*time.Second { // a row is waited for 50
		t.Errorf("another request: %v after %s, want %v at once", err, time.Since(begun), seckill.ErrUnknownOrder)
	}
	found := make(chan error)
	go func() {
		_, err := s.Undecided(context.Background(), sku, 1, "a")
		found <- err
	}()
	waiting := func() (n int) {
		s.DB(t.Context()).Raw("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%LOCK IN SHARE MODE%' " +
			"AND info NOT LIKE '%processlist%'").Scan(&n)
		return n
	}
	for end := time.Now().Add(10 * time.Second); waiting() == 0; {
		select {
		case err := <-found:
			t.Fatalf("an order that is not committed was answered %v", err)
		default:
		}
		if time.Now().After(end) {
			t.Fatal("the look-up does not reach the server")
		}
	}
	close(commit)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := <-found; err != nil {
		t.Errorf("the order was committed, and is answered %v", err)
	}
}

// Looks that share a statement each get their own answer, and only the one whose
// order is not committed waits.
func TestLooksTogether(t *testing.T) {
	s := onServer(t)
	set, err := s.Reset(t.Context(), sku, "", 5)
	if err != nil {
		t.Fatal(err)
	}
	buys := func(user int64, request string, then func()) error {
		return s.Tx(context.Background(), func(tx *gorm.DB) error {
			if _, _, err := s.Exec(tx, "UPDATE stock SET num = num - 1 WHERE id = ?", sku); err != nil {
				return err
			}
			_, err := s.Record(tx, seckill.Purchase{SKU: sku, User: user, Quantity: 1, RequestID: request}, set.Run, 5-user)
			then()
			return err
		})
	}
	if err := buys(1, "sold", func() {}); err != nil {
		t.Fatal(err)
	}
	written, commit, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- buys(2, "pending", func() { close(written); <-commit })
	}()
	<-written
	looks := ledger.NewLooks(s, true)
	type told struct {
		user int64
		o    ledger.Order
		err  error
	}
	answers := make(chan told, 200)
	look := func(user int64, request string) {
		o, err := looks.Undecided(t.Context(), sku, user, request)
		answers <- told{user, o, err}
	}
	go look(2, "pending")
	for i := range 99 {
		go look(1, "sold")
		go look(int64(3+i), "none")
	}
	for range 2 * 99 { // all but the one
		switch a := <-answers; {
		case a.user == 1 && (a.err != nil || a.o.RequestID != "sold" || a.o.UserID != 1 || a.o.Remaining != 4):
			t.Errorf("the one who was sold to: %+v, %v", a.o, a.err)
		case a.user == 2:
			t.Fatalf("an order that is not committed was answered %+v, %v", a.o, a.err)
		case a.user > 2 && !errors.Is(a.err, seckill.ErrUnknownOrder):
			t.Errorf("user %d, who has no order: %v", a.user, a.err)
		}
	}
	close(commit)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if a := <-answers; a.err != nil || a.o.RequestID != "pending" {
		t.Errorf("the order was committed, and is answered %+v, %v", a.o, a.err)
	}
	// The same words of another user, of another SKU and of an earlier run are
	// other requests.
	for _, other := range []func() (ledger.Order, error){
		func() (ledger.Order, error) { return looks.Undecided(t.Context(), sku, 2, "sold") },
		func() (ledger.Order, error) { return looks.Undecided(t.Context(), sku+1, 1, "sold") },
		func() (ledger.Order, error) {
			if _, err := s.Reset(t.Context(), sku, "", 5); err != nil {
				t.Fatal(err)
			}
			return looks.Undecided(t.Context(), sku, 1, "sold")
		},
	} {
		if o, err := other(); !errors.Is(err, seckill.ErrUnknownOrder) {
			t.Errorf("another request: %+v, %v", o, err)
		}
	}
}

// BenchmarkLooks: refused buyers, 64 at a time, who look together and each alone,
// in turns.
func BenchmarkLooks(b *testing.B) {
	in := labtest.Instance(b, backend.SQL, backend.RowLocks)
	if err := ledger.Migrate(b.Context(), in.DB); err != nil {
		b.Fatal(err)
	}
	s := ledger.NewStore(in.DB).For("bench", seckill.NopObserver{})
	if _, err := s.Reset(b.Context(), sku, "", 5); err != nil {
		b.Fatal(err)
	}
	var took [2]time.Duration
	const clients, round = 64, 2048
	for left := b.N; left > 0; left -= round {
		for side, looks := range []*ledger.Looks{ledger.NewLooks(s, true), ledger.NewLooks(s, false)} {
			begun := time.Now()
			var g errgroup.Group
			for client := range clients {
				g.Go(func() error {
					for n := client; n < min(left, round); n += clients {
						if _, err := looks.Undecided(b.Context(), sku, int64(n), fmt.Sprint("refused", n)); !errors.Is(err, seckill.ErrUnknownOrder) {
							return fmt.Errorf("a request without an order is answered %w", err)
						}
					}
					return nil
				})
			}
			if err := g.Wait(); err != nil {
				b.Fatal(err)
			}
			took[side] += time.Since(begun)
		}
	}
	b.ReportMetric(float64(b.N)/took[0].Seconds(), "together/s")
	b.ReportMetric(float64(b.N)/took[1].Seconds(), "alone/s")
	b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "ratio")
	b.ReportMetric(0, "ns/op")
}
