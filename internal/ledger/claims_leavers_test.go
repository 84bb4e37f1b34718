package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// silent is a database that answers nothing, as one behind a dead network.
type silent struct{}

func (silent) Connect(context.Context) (driver.Conn, error) { return silentConn{}, nil }
func (silent) Driver() driver.Driver                        { return nil }

type silentConn struct{}

func (silentConn) Prepare(string) (driver.Stmt, error)      { return nil, errors.New("no") }
func (silentConn) Close() error                             { return nil }
func (silentConn) Begin() (driver.Tx, error)                { return nil, errors.New("no") }
func (silentConn) CheckNamedValue(*driver.NamedValue) error { return nil }
func (silentConn) QueryContext(ctx context.Context, _ string, _ []driver.NamedValue) (driver.Rows, error) {
	<-ctx.Done()
	return nil, driver.ErrBadConn
}

// Buyers who leave while the server hangs leave nothing behind, but those whose claims
// are on their way to it.
func TestClaimsOfBuyersWhoLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sql.OpenDB(silent{})
		defer db.Close()
		db.SetMaxOpenConns(1)
		c := NewClaims(&Store{}, db, 10*time.Second)
		c.scope = "x"
		var all sync.WaitGroup
		for n := range 5000 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), claimTimeout/2)
				defer cancel()
				_, release, err := c.Take(ctx, int64(n+1), fmt.Sprint("key-", n))
				release()
				if err == nil {
					t.Error("granted")
				}
			})
		}
		all.Wait()
		c.mu.Lock()
		waiting, taken := len(c.asking.list), len(c.mine)
		c.mu.Unlock()
		if waiting > 1 || taken > mostClaims {
			t.Errorf("all have left; %d claims wait, %d keys are taken", waiting, taken)
		}
		time.Sleep(2 * claimTimeout) // the statement that is under way ends
	})
}

func TestLine(t *testing.T) {
	var l line[*look]
	all := make([]*look, 10)
	for i := range all {
		all[i] = &look{}
		l.join(all[i])
	}
	for _, i := range []int{0, 4, 5} {
		if !l.leave(all[i]) {
			t.Errorf("%d cannot leave", i)
		}
	}
	if l.len() != 7 {
		t.Errorf("%d are in line, want 7", l.len())
	}
	out := l.first(4)
	if len(out) != 4 || out[0] != all[1] || out[3] != all[6] {
		t.Errorf("the first four are wrong")
	}
	if l.leave(all[1]) {
		t.Error("one who was sent can leave")
	}
	for _, i := range []int{7, 8} {
		l.leave(all[i])
	}
	if out = l.first(9); len(out) != 1 || out[0] != all[9] || l.len() != 0 || len(l.list) != 0 {
		t.Errorf("the last: %d, %d are left", len(out), l.len())
	}
}
