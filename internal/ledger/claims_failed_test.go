package ledger_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
)

// The server may end a statement when it has granted some of its keys. Those are free
// then, for other processes, too; the ones that are worked on stay taken.
func TestKeysOfAStatementThatFails(t *testing.T) {
	in, other := labtest.Instance(t, backend.SQL, backend.RowLocks), labtest.Instance(t, backend.SQL, backend.RowLocks)
	if err := ledger.Migrate(t.Context(), in.DB); err != nil {
		t.Fatal(err)
	}
	here := ledger.NewClaims(ledger.NewStore(in.DB), in.KeyDB, time.Minute)
	there := ledger.NewClaims(ledger.NewStore(other.DB), other.KeyDB, time.Minute)
	_, release, err := here.Take(t.Context(), 1, "under way")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	type request struct {
		user int64
		key  string
	}
	var mu sync.Mutex
	var failed []request
	for round := 0; round < 60 && len(failed) < 300; round++ {
		// It fails in the middle of some statements only: how fast they are differs.
		_, err := in.KeyDB.Exec("SET SESSION max_statement_time = 0.0004")
		if err != nil { // MySQL's name, in milliseconds
			_, err = in.KeyDB.Exec("SET SESSION max_execution_time = 1")
		}
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for n := range 250 {
			r := request{int64(n + 1), fmt.Sprint("k-", round, "-", n)}
			all.Go(func() {
				_, release, err := here.Take(t.Context(), r.user, r.key)
				release()
				if err != nil {
					mu.Lock()
					failed = append(failed, r)
					mu.Unlock()
				}
			})
		}
		all.Wait()
	}
	if len(failed) == 0 {
		t.Fatal("no statement failed")
	}
	// A statement that goes through comes behind all that were given up.
	_, done, err := here.Take(t.Context(), 2, "behind them")
	done()
	for err != nil && t.Context().Err() == nil {
		_, done, err = here.Take(t.Context(), 2, "behind them")
		done()
	}
	stuck := 0
	for _, r := range failed {
		_, release, err := there.Take(t.Context(), r.user, r.key)
		release()
		if errors.Is(err, ledger.ErrInProgress) {
			stuck++
		}
	}
	if stuck > 0 {
		t.Errorf("%d of %d keys whose claims failed are in progress at another process", stuck, len(failed))
	}
	if _, release, err := there.Take(t.Context(), 1, "under way"); !errors.Is(err, ledger.ErrInProgress) {
		release()
		t.Errorf("the key that is worked on: %v at another process", err)
	}
}
