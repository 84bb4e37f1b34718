package hotsku

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

//go:embed detail_take.lua
var detailTakeLua string

//go:embed detail_seed.lua
var detailSeedLua string

var (
	detailTake = redis.NewScript(detailTakeLua)
	detailSeed = redis.NewScript(detailSeedLua)
)

// A detailCounter deals out the units of an epoch by their numbers. It is in
// Redis, and may be wrong in every way: it only spares the database buyers who
// come too late. What it may deal out is in the row of stock_epochs.
type detailCounter struct {
	redis redis.UniversalClient
	store *ledger.Store
	apart *ledger.Store // the same: reads see what is committed by then
	deps  catalog.Deps
	turns turns
	half  bool          // a half message of each sale is kept with its units
	pause time.Duration // before a rebuild, while others may be about to write
	// left is read under the lock of the epoch.
	left func(tx *gorm.DB, sku int64, seen ledger.Sight) (int64, error)
}

func newDetailCounter(d catalog.Deps) detailCounter {
	return detailCounter{redis: d.Redis, store: d.Ledger,
		apart: d.Ledger.ReadCommitted(), deps: d,
		turns: turns{by: map[int64]chan bool{}}, pause: d.Settings.LockPoll,
		left: func(
			tx *gorm.DB, sku int64, seen ledger.Sight,
		) (left int64, err error) {
			err = d.Ledger.ReadIn(tx, &left, "SELECT "+unmergedToo+
				" FROM stock WHERE id = ? AND run = ?", sku, seen.Run)
			return left, err
		}}
}

// counterKeys are the counter of a SKU, its buyers, and what half-message keeps
// beside them, on one node of a Cluster.
func counterKeys(sku int64) []string {
	counter := fmt.Sprint("seckill:details:", sku)
	return []string{counter, "{" + counter + "}:buyers",
		"{" + counter + "}:halves", "{" + counter + "}:messages"}
}

// dealt is what the counter says. If state is "taken", the units up to upTo are
// the buyer's, if the database agrees.
type dealt struct {
	state       string
	run, epoch  int64
	upTo, units int64
}

func (d dealt) first(p seckill.Purchase) int64 { return d.upTo - p.Quantity + 1 }

// admit takes units from the counter. When it has too few the database says
// whether the sale is sold out.
func (s *detailCounter) admit(
	ctx context.Context, p seckill.Purchase, end time.Time,
) (d dealt, err error) {
	known, tries := false, 0
	for last := (dealt{}); ; last = d {
		if d, err = s.take(ctx, p, known); err != nil {
			// Units may be dealt out to them, and they do not go on.
			return d, untaken(err)
		}
		switch d.state {
		case "taken":
			return d, nil
		case "foreign":
			return d, s.foreignCounter(p.SKU)
		case "seen":
			if err = s.duplicate(ctx, p); err != nil {
				return d, err
			}
			known = true
			continue
		}
		others := d.state == "short" && d.upTo > 0 && d != last
		if others && s.pause > 0 {
			err = s.await(ctx, p, end)
		} else if tries++; tries > s.deps.Settings.Retries+1 {
			err = fmt.Errorf("%w: the counter is rebuilt over and over",
				seckill.ErrBusy)
		} else {
			err = s.renew(ctx, p, d)
		}
		if err != nil {
			return d, err
		}
	}
}

// await pauses before a rebuild: others have been dealt units, and may be about
// to write them.
func (s *detailCounter) await(
	ctx context.Context, p seckill.Purchase, end time.Time,
) error {
	_, err := s.store.LookAside(ctx, p, leftByOrders)
	switch {
	case err != nil:
		return err
	case time.Now().After(end):
		return fmt.Errorf("%w: the last units are dealt out, and not sold yet",
			seckill.ErrBusy)
	}
	if err := tap.Sleep(ctx, s.pause); err != nil {
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	}
	return nil
}

func (s *detailCounter) take(
	ctx context.Context, p seckill.Purchase, known bool,
) (d dealt, err error) {
	id, err := s.store.Identity(ctx)
	if err != nil {
		return d, err
	}
	answer, err := detailTake.Run(ctx, s.redis, counterKeys(p.SKU),
		p.Quantity, p.User, id, known, s.half).StringSlice()
	if err != nil {
		return d, answered(err)
	}
	d.state = answer[0]
	for i, n := range []*int64{&d.run, &d.epoch, &d.upTo, &d.units} {
		if *n, err = strconv.ParseInt(answer[i+1], 10, 64); err != nil {
			return d, err
		}
	}
	return d, nil
}

func (s *detailCounter) foreignCounter(sku int64) error {
	return fmt.Errorf("%w: %s was set for another database: reset the sale",
		seckill.ErrUnavailable, counterKeys(sku)[0])
}

// duplicate asks whether a buyer who has been here has an order. One that is not
// committed yet is met by the unique key.
func (s *detailCounter) duplicate(
	ctx context.Context, p seckill.Purchase,
) error {
	var has bool
	err := s.store.Read(ctx, &has, "SELECT EXISTS(SELECT 1 FROM orders "+
		"WHERE user_id = ? AND sku_id = ? AND status = ? "+
		"AND run = (SELECT run FROM stock WHERE id = ?))",
		p.User, p.SKU, ledger.Active, p.SKU)
	if err == nil && has {
		err = seckill.ErrDuplicate
	}
	return err
}

// leftByOrders are the units that no committed order has; nil while a reset has
// not set the epoch of the run.
const leftByOrders = `(SELECT ` + unmergedToo + ` FROM stock_epochs e
  WHERE e.sku_id = stock.id AND e.run = stock.run) AS units,
(SELECT e.epoch FROM stock_epochs e
  WHERE e.sku_id = stock.id AND e.run = stock.run) AS piece`

// renew sees to it that there is a counter that can be taken from, after one that
// has too few units, is missing, or is of an old epoch. ErrSoldOut only when the
// orders say so. No purchase has taken anything yet, whatever fails.
func (s *detailCounter) renew(
	ctx context.Context, p seckill.Purchase, d dealt,
) error {
	seen, err := s.store.LookAside(ctx, p, leftByOrders)
	if err != nil {
		return err
	}
	if d.state != "missing" && (d.run < seen.Run ||
		d.run == seen.Run && d.epoch < *seen.Piece) {
		err = s.seed(ctx, p.SKU, false) // its rebuilder is late, or dead
	} else {
		err = s.rebuild(ctx, p.SKU, seen, d)
	}
	return untaken(err)
}

// untaken is an error before a purchase has written anything: whatever became of
// the counter, nothing was taken.
func untaken(err error) error {
	if err == nil || seckill.NothingTaken(err) {
		return err
	}
	return fmt.Errorf("%w: the counter: %v", seckill.ErrUnavailable, err)
}

// rebuild begins an epoch with what the orders have left. The row's lock is the
// barrier: it is given when every sale of the epoch before has ended, committed
// or not, and none can begin until the new epoch is committed.
func (s *detailCounter) rebuild(
	ctx context.Context, sku int64, seen ledger.Sight, d dealt,
) error {
	done, err := s.turns.wait(ctx, sku)
	if err != nil {
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	}
	defer done()
	err = s.apart.Tx(ctx, func(tx *gorm.DB) error {
		var epoch int64
		err := s.store.ReadIn(tx, &epoch, "SELECT epoch FROM stock_epochs "+
			"WHERE sku_id = ? AND run = ? FOR UPDATE", sku, seen.Run)
		if err != nil || epoch != *seen.Piece {
			return err // another has rebuilt it
		}
		// A read of its own, after the lock is given: it sees every order
		// that this waited for.
		left, err := s.left(tx, sku, seen)
		if err != nil {
			return err
		}
		_, _, err = s.store.Exec(tx, "UPDATE stock_epochs "+
			"SET epoch = GREATEST(epoch, ?) + 1, units = ? WHERE sku_id = ?",
			d.epoch, max(0, left), sku)
		return err
	})
	if errors.Is(err, seckill.ErrUnknownSKU) {
		return fmt.Errorf("%w: the sale was reset meanwhile",
			seckill.ErrConflict)
	}
	if err != nil {
		return err
	}
	return s.seed(ctx, sku, false)
}

// seed sets the counter to the epoch that the database has.
func (s *detailCounter) seed(
	ctx context.Context, sku int64, reset bool,
) error {
	id, err := s.store.Identity(ctx)
	if err != nil {
		return err
	}
	var now struct{ Run, Epoch, Units int64 }
	err = s.store.Read(ctx, &now, "SELECT run, epoch, units "+
		"FROM stock_epochs WHERE sku_id = ?", sku)
	if err != nil {
		return err
	}
	set, err := detailSeed.Run(ctx, s.redis, counterKeys(sku),
		id, now.Run, now.Epoch, now.Units, reset).Int64()
	switch {
	case err != nil:
		return answered(err)
	case set == -2:
		return s.foreignCounter(sku)
	case set == -1:
		return s.overtakenCounter(ctx, sku, now.Run)
	}
	return nil
}

// overtakenCounter: Redis has seen a newer run. So has the ledger, or its
// database was set back to an older state.
func (s *detailCounter) overtakenCounter(
	ctx context.Context, sku, run int64,
) error {
	var now int64
	err := s.store.Read(ctx, &now, "SELECT run FROM stock WHERE id = ?", sku)
	if err != nil || now > run {
		return err
	}
	return fmt.Errorf("%w: Redis has sold a newer run than %d: if the "+
		"database was restored, delete %s and reset the sale",
		seckill.ErrUnavailable, run, counterKeys(sku)[0])
}

// Reset begins the first epoch of the run that the ledger has set, once: this
// reset may have been overtaken by another. Nothing is dealt out before the
// sale starts; the first buyer then finds too few, and begins the next epoch.
func (s *detailCounter) Reset(ctx context.Context, sku, _ int64) error {
	err := s.apart.Tx(ctx, func(tx *gorm.DB) error {
		_, _, err := s.store.Exec(tx, `
INSERT INTO stock_epochs (sku_id, run, epoch, units)
SELECT id, run, 1, IF(`+s.store.Started()+`, initial, 0)
  FROM stock WHERE id = ?
ON DUPLICATE KEY UPDATE
  epoch = IF(stock_epochs.run < VALUES(run), 1, stock_epochs.epoch),
  units = IF(stock_epochs.run < VALUES(run), VALUES(units),
    stock_epochs.units),
  run = GREATEST(stock_epochs.run, VALUES(run))`, sku)
		return err
	})
	if err != nil {
		return err
	}
	return s.seed(ctx, sku, true)
}

// turns lets one buyer of a process at a time rebuild the counter of a SKU.
type turns struct {
	mu sync.Mutex
	by map[int64]chan bool
}

func (t *turns) wait(ctx context.Context, sku int64) (done func(), err error) {
	t.mu.Lock()
	turn := t.by[sku]
	if turn == nil {
		turn = make(chan bool, 1)
		turn <- true
		t.by[sku] = turn
	}
	t.mu.Unlock()
	mine, err := tap.Wait(ctx, fmt.Sprint("the counter of stock ", sku), turn)
	if mine {
		done = func() { turn <- true }
	}
	return done, err
}
