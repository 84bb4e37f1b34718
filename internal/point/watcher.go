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
	trap   *trap
	holder Holder
	read   atomic.Bool // it has seen the stock, or taken from the number in Redis
	wrote  atomic.Bool // it has written the row or the order
	began  atomic.Bool // it is in a transaction
}

func (w *watcher) Before(ctx context.Context, c *tap.Command) error {
	if tap.IsBackground(ctx) {
		return nil
	}
	kind := kindOf(c)
	if c.Name == "BEGIN" || kind == commits || kind == undoes {
		w.began.Store(c.Name == "BEGIN")
	}
	switch {
	case kind == writes && !w.read.Load():
		w.trap.take(nil)
	case kind == writes && !w.wrote.Swap(true):
		w.reach(BeforeWrite, c)
		if !w.began.Load() && c.Name == "INSERT" { // the order alone: it commits by itself
			w.reach(BeforeCommit, c)
		}
	case kind == commits && w.wrote.Load():
		w.reach(BeforeCommit, c)
	case kind == undoes: // it begins anew, from a read
		w.read.Store(false)
		w.wrote.Store(false)
	}
	return nil
}

func (w *watcher) After(_ context.Context, c *tap.Command, err error) error {
	if err == nil && kindOf(c) == reads {
		w.read.Store(true)
	}
	return err
}

func (w *watcher) reach(at Name, c *tap.Command) {
	if w.trap.Point == at {
		h := w.holder
		h.Command = c.Text
		w.trap.take(&h)
	}
}

// A kind of command, as a purchase's points see it.
type kind int

const (
	other kind = iota
	reads
	writes
	commits
	undoes
)

var (
	// Of stock, the number of units, and not its fence, which is raised before
	// the read; of lock_record, mysql-counter's count.
	readsRow   = regexp.MustCompile(`(?is)^\s*SELECT\b.*\b(num\b.*\bFROM stock|count\b.*\bFROM lock_record)\b`)
	writesBook = regexp.MustCompile(`(?is)^\s*(UPDATE stock SET num|UPDATE lock_record SET count = count|INSERT INTO orders|CALL)\b`)
)

// number is where Redis keeps a stock; a lock's name has it inside, too.
const number, redisLock = "seckill:stock:", "seckill:lock:stock:"

func kindOf(c *tap.Command) kind {
	switch {
	case c.Backend == tap.Redis && strings.Contains(strings.ReplaceAll(c.Text, redisLock, ""), number):
		return reads // a number that is taken from is read in the same breath
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
