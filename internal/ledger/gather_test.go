package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A dialled server refuses connections, and says when it was asked first.
type dialled struct{ at *time.Time }

func (d dialled) Driver() driver.Driver { return nil }
func (d dialled) Connect(context.Context) (driver.Conn, error) {
	if d.at.IsZero() {
		*d.at = time.Now()
	}
	return nil, errors.New("refused")
}

// In a crowd a statement waits for other claims. A buyer who is alone does not wait.
func TestClaimsWaitForEachOther(t *testing.T) {
	for here, want := range map[int]time.Duration{1: 0, fewRequests: 0, fewRequests + 1: gathering, 1000: gathering} {
		synctest.Test(t, func(t *testing.T) {
			var asked time.Time
			db := sql.OpenDB(dialled{&asked})
			defer db.Close()
			claims := NewClaims(nil, db, time.Minute)
			for user := range here - 1 {
				claims.here[requestKey{int64(user + 2), "k"}] = true
			}
			begun := time.Now()
			if _, err := claims.Take(t.Context(), 1, "k"); err == nil {
				t.Error("claimed at a server that refuses connections")
			}
			if waited := asked.Sub(begun); waited != want {
				t.Errorf("a claim beside %d others waited %v, want %v", here-1, waited, want)
			}
			time.Sleep(time.Second) // the worker ends
		})
	}
}
