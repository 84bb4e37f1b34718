package point

import (
	"context"
	"regexp"
	"strings"
	"sync/atomic"

	"seckill/internal/tap"
)

// A watcher follows the commands of one purchase.
type watcher struct {
	trap          *trap
	holder        Holder
	hasRead       atomic.Bool // true if the purchase has read the stock
	hasWritten    atomic.Bool // true if it has written the stock row or the order
	inTransaction atomic.Bool // true while it is in a transaction
}

func (w *watcher) Before(ctx context.Context, c *tap.Command) error {
	if tap.IsBackground(ctx) {
		return nil
	}
	kind := kindOf(c)
	if c.Name == "BEGIN" || kind == commits || kind == undoes {
		w.inTransaction.Store(c.Name == "BEGIN")
	}
	switch {
	case kind == writes && !w.hasRead.Load():
		w.trap.reportPurchase(nil)
	case kind == writes && !w.hasWritten.Swap(true):
		w.reachPoint(BeforeWrite, c)
		if !w.inTransaction.Load() && c.Name == "INSERT" { // an order without a transaction commits by itself
			w.reachPoint(BeforeCommit, c)
		}
	case kind == commits && w.hasWritten.Load():
		w.reachPoint(BeforeCommit, c)
	case kind == undoes: // the purchase may begin again with a read
		w.hasRead.Store(false)
		w.hasWritten.Store(false)
	}
	return nil
}

func (w *watcher) After(_ context.Context, c *tap.Command, err error) error {
	if err == nil && kindOf(c) == reads {
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

// A kind says what a command does, as far as points depend on it.
type kind int

const (
	other kind = iota
	reads
	writes
	commits
	undoes
)

var (
	// readsRow finds reads of the number of units: stock.num, or the count of mysql-counter in
	// lock_record. A read of the fence does not count, because it comes before the lock.
	readsRow   = regexp.MustCompile(`(?is)^\s*SELECT\b.*\b(num\b.*\bFROM stock|count\b.*\bFROM lock_record)\b`)
	writesBook = regexp.MustCompile(`(?is)^\s*(UPDATE stock SET num|UPDATE lock_record SET count = count|INSERT INTO orders|CALL)\b`)
)

// number begins the key under which Redis keeps a stock. redisLock begins the key of a lock, which
// is no stock although number is a part of redisLock.
const number, redisLock = "seckill:stock:", "seckill:lock:stock:"

func kindOf(c *tap.Command) kind {
	switch {
	case c.Backend == tap.Redis && strings.Contains(strings.ReplaceAll(c.Text, redisLock, ""), number):
		return reads // a command that takes units counts as a read, too: its reply has the units left
	case c.Backend != tap.SQL:
		return other
	case c.Name == "COMMIT":
		return commits
	case c.Name == "ROLLBACK":
		return undoes
	case readsRow.MatchString(c.Text):
		return reads
	case writesBook.MatchString(c.Text):
		return writes
	}
	return other
}
