package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

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
	if _, err := s.Undecided(t.Context(), 2, "another"); !errors.Is(err, seckill.ErrUnknownOrder) || time.Since(begun) > 20*time.Second { // a row is waited for 50
		t.Errorf("another request: %v after %s, want %v at once", err, time.Since(begun), seckill.ErrUnknownOrder)
	}
	found := make(chan error)
	go func() {
		_, err := s.Undecided(context.Background(), 1, "a")
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
