package lock

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
)

// A gate forgets a key with the last who was inside or gave up, and closes what they shared.
func TestGateForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := 0
		g := Gate[int]{Close: func(int) { closed++ }}
		inside, err := g.Enter(t.Context(), "key", 0)
		labtest.Must(t, err)
		if _, err := g.Enter(t.Context(), "key", time.Second); !errors.Is(err, seckill.ErrBusy) {
			t.Errorf("one who waits for a second was told %v, want busy", err)
		}
		inside.Leave()
		if closed != 1 || len(g.rooms) != 0 {
			t.Errorf("closed %d times, %d rooms are kept; want 1 and 0", closed, len(g.rooms))
		}
	})
}
