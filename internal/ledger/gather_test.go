package ledger

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A statement waits for other claims, 10 ms at most. A buyer who is alone does not wait.
func TestClaimsWaitForEachOther(t *testing.T) {
	for _, c := range []struct {
		here, waiting int           // requests at work, and those that wait for the statement
		join          int           // that come a millisecond later
		want          time.Duration // how long the statement waits
	}{
		{here: 1, waiting: 1},
		{here: 5, waiting: 1},
		{here: 9, waiting: 3},
		{here: 3 * (maxTrips + 50), waiting: maxTrips},
		{here: 9, waiting: 0},
		{here: 9, waiting: 1, want: maxGather},
		{here: 9, waiting: 1, join: 1, want: maxGather},
		{here: 9, waiting: 1, join: 2, want: time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			claims := NewClaims(nil, nil, "", time.Minute)
			claims.working = true // join starts no other
			for user := range c.here {
				claims.here[requestKey{int64(user), "k"}] = true
			}
			claims.queue = make([]*trip, c.waiting)
			var joining sync.WaitGroup
			joining.Go(func() {
				time.Sleep(time.Millisecond)
				for range c.join {
					(&Claim{of: claims}).join(false)
				}
			})
			begun := time.Now()
			claims.gather()
			if took := time.Since(begun); took != c.want {
				t.Errorf("%d of %d, and %d later: the statement waited %v, want %v", c.waiting, c.here, c.join, took, c.want)
			}
			joining.Wait()
		})
	}
}
