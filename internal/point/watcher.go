package point

import (
	"context"
	"strings"
	"sync/atomic"

	"seckill/internal/catalog"
	"seckill/internal/tap"
)

type watcher struct {
	trap          *trap
	stored        catalog.Stored // where the strategy stores the stock
	holder        Holder
	hasRead       atomic.Bool // true if the purchase has read the stock
	hasWritten    atomic.Bool // true if the purchase has written the stock row or the order
	inTransaction atomic.Bool // true while the purchase is in a transaction
}

// Fork returns no Tap, because background goroutines neither read nor write the stock.
func (w *watcher) Fork() (tap.Tap, func()) { return nil, func() {} }

func (w *watcher) Before(_ context.Context, c *tap.Command) error {
	kind := w.kindOf(c)
	if c.Name == "BEGIN" || kind == commits || kind == undoes {
		w.inTransaction.Store(c.Name == "BEGIN")
	}
	switch {
	case kind == writes && !w.hasRead.Load():
		w.trap.reportPurchase(nil)
	case kind == writes && !w.hasWritten.Swap(true):
		w.reachPoint(BeforeWrite, c)
		if !w.inTransaction.Load() && c.Name == "INSERT" { // without a transaction, this INSERT also commits
			w.reachPoint(BeforeCommit, c)
		}
	case kind == commits && w.hasWritten.Load():
		w.reachPoint(BeforeCommit, c)
	case kind == undoes: // after a ROLLBACK the purchase may read the stock again
		w.hasRead.Store(false)
		w.hasWritten.Store(false)
	}
	return nil
}

func (w *watcher) After(_ context.Context, c *tap.Command, err error) error {
	if err == nil && w.kindOf(c) == reads {
		w.hasRead.Store(true)
	}
	return err
}

func (w *watcher) reachPoint(at Name, c *tap.Command) {
	if w.trap.Point == at {
		h := w.holder
		h.Command = c.Text
		w.trap.reportPurchase(&h)
	}
}

type kind int

const (
	other kind = iota
	reads
	writes
	commits
	undoes
)

func (w *watcher) kindOf(c *tap.Command) kind {
	text := strings.TrimSpace(c.Text)
	switch {
	case c.Backend == tap.Redis && w.stored.RedisKeys != nil && strings.Contains(text, w.stored.RedisKeys(w.trap.SKU)[0]):
		return reads // even a command that takes units reads them, because its reply has the units left
	case c.Backend != tap.SQL:
		return other
	case c.Name == "COMMIT":
		return commits
	case c.Name == "ROLLBACK":
		return undoes
	case strings.HasPrefix(text, w.stored.Reads):
		return reads
	case c.Name == "CALL", strings.HasPrefix(text, w.stored.Writes), strings.HasPrefix(text, "INSERT INTO orders"):
		return writes
	}
	return other
}
