package explore_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/game"
	"seckill/internal/lab"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// A sale is a transaction that is not part of this project. It reads the stock and writes the
// number of units that are left.
type sale struct {
	seckill.Strategy // provides Restore, which no buyer here calls
	store            *ledger.Store
	read             string
}

// Deduct implements seckill.Strategy.
func (s sale) Deduct(ctx context.Context, p seckill.Purchase) (r seckill.Receipt, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) (err error) {
		var num int64
		if err := tx.Raw(s.read, p.SKU).Scan(&num).Error; err != nil {
			return err
		}
		if num < p.Quantity {
			return seckill.ErrSoldOut
		}
		if err := tx.Exec("UPDATE stock SET num = ? WHERE id = ?", num-p.Quantity, p.SKU).Error; err != nil {
			return err
		}
		r, err = s.store.Record(tx, p, ledger.AnyRun, num-p.Quantity) // inserts the order
		return err
	})
	return r, err
}

// Two buyers want the last unit. The explorer runs the schedules of their commands on a real
// server, those with the fewest preemptions first, and the judge checks the result of each.
func Example() {
	ctx := context.Background()
	servers, err := lab.Start(ctx, lab.Options{Host: lab.Host{Environ: os.Environ(), Temp: os.TempDir()},
		Backends: []string{backend.NameMySQL}})
	if err != nil {
		log.Panic(err)
	}
	defer servers.Stop(ctx)
	scenario := &explore.Scenario{Stock: 1, Buyers: []explore.Buyer{
		{Name: "A", Quantity: 1, Action: explore.Buys}, {Name: "B", Process: 1, Quantity: 1, Action: explore.Buys}}}
	for _, read := range []string{"SELECT num FROM stock WHERE id = ?", "SELECT num FROM stock WHERE id = ? FOR UPDATE"} {
		// The isolation level is READ COMMITTED: with REPEATABLE READ, a newer MariaDB refuses to write a row
		// that has changed since it was read.
		info := catalog.Info{Name: "sale", Stock: seckill.InRow, New: func(d catalog.Deps) (seckill.Strategy, error) {
			return sale{store: d.Ledger.ReadCommitted(), read: read}, nil
		}}
		world, err := explore.Open(ctx, info, servers.Config(), explore.Options{})
		if err != nil {
			log.Panic(err)
		}
		found, err := world.Search(ctx, scenario, explore.Limits{})
		if err = errors.Join(err, world.Close()); err != nil {
			log.Panic(err)
		}
		if broken := found.StoppedAt; broken != nil {
			fmt.Printf("%s\n  breaks in %s: %s\n", read, game.FormatSchedule(broken.Choices()...), broken.Problems[0].Message)
		} else {
			fmt.Printf("%s\n  holds in all %d schedules (exhausted: %t)\n", read, found.Schedules, found.Exhausted)
		}
	}
	// Output:
	// SELECT num FROM stock WHERE id = ?
	//   breaks in aabbbbbaaa: 2 units sold out of 1: 1 too many
	// SELECT num FROM stock WHERE id = ? FOR UPDATE
	//   holds in all 36 schedules (exhausted: true)
}
