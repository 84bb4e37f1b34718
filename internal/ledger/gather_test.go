package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A scripted database grants every claim at once, and notes when each statement
// came and how many claims were in it.
type scripted struct {
	at     []time.Time
	claims []int
}

func (s *scripted) Driver() driver.Driver                        { return nil }
func (s *scripted) Connect(context.Context) (driver.Conn, error) { return s, nil }
func (s *scripted) Prepare(string) (driver.Stmt, error)          { return nil, driver.ErrSkip }
func (s *scripted) Begin() (driver.Tx, error)                    { return nil, driver.ErrSkip }
func (s *scripted) Close() error                                 { return nil }

func (s *scripted) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return driver.ResultNoRows, nil
}

func (s *scripted) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if strings.Contains(query, "DATABASE()") {
		return &oneRow{values: []driver.Value{"sale"}}, nil
	}
	n := strings.Count(query, "IF(GET_LOCK")
	s.at, s.claims = append(s.at, time.Now()), append(s.claims, n)
	return &oneRow{values: []driver.Value{strings.Repeat("1", n), nil, nil}}, nil
}

type oneRow struct{ values []driver.Value }

func (r *oneRow) Columns() []string { return make([]string, max(1, len(r.values))) }
func (r *oneRow) Close() error      { return nil }
func (r *oneRow) Next(into []driver.Value) error {
	if r.values == nil {
		return io.EOF
	}
	copy(into, r.values)
	r.values = nil
	return nil
}

// In a crowd a statement waits for other claims, unless no other can come. A buyer
// who is alone does not wait.
func TestClaimsWaitForEachOther(t *testing.T) {
	for name, test := range map[string]struct {
		others int           // requests that have their claims
		comes  int           // how many buyers come at first,
		later  time.Duration // and when one more does
		waited time.Duration // until the first statement
		shared int           // claims in it
	}{
		"alone":                         {0, 1, time.Millisecond, 0, 1},
		"beside few":                    {fewRequests - 1, 1, time.Millisecond, 0, 1},
		"in a crowd":                    {fewRequests, 1, time.Millisecond, gathering, 2},
		"in a crowd, the other late":    {fewRequests, 1, 3 * time.Millisecond, gathering, 1},
		"in a large crowd":              {1000, 1, time.Millisecond, gathering, 2},
		"all of a crowd want a claim":   {0, fewRequests + 1, time.Millisecond, 0, fewRequests + 1},
		"a statement's share of claims": {1000, maxTrips, time.Millisecond, 0, maxTrips},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &scripted{}
				db := sql.OpenDB(server)
				defer db.Close()
				db.SetMaxOpenConns(1)
				claims := NewClaims(nil, db, time.Minute)
				for user := range test.others {
					claims.here[requestKey{int64(user), "held"}] = true
				}
				begun := time.Now()
				take := func(user int) {
					if _, err := claims.Take(t.Context(), int64(user), "k"); err != nil {
						t.Error(err)
					}
				}
				claims.working = true // they come while a statement is under way
				for user := range test.comes {
					go take(user)
				}
				synctest.Wait()
				go claims.work()
				time.Sleep(test.later)
				take(test.comes)
				time.Sleep(time.Second) // the worker ends
				if waited := server.at[0].Sub(begun); waited != test.waited || server.claims[0] != test.shared {
					t.Errorf("the first statement came after %v with %d claims, want %v and %d", waited, server.claims[0], test.waited, test.shared)
				}
			})
		})
	}
}
