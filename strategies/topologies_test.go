package strategies_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap/taptest"
	"seckill/strategies"
	"seckill/strategies/mysqllock"
	"seckill/strategies/saletest"
	"seckill/strategies/sqlrow"
)

// Processes write at several nodes of a Galera cluster. All tests share one cluster, because it takes long to start.
func TestSeveralNodes(t *testing.T) {
	l := labtest.NewLab(t, lab.Galera, backend.NameMySQL)
	configs := labtest.Nodes(t, l)
	two := [2]*backend.Instance{openTwo(t, configs[0])[0], openTwo(t, configs[1])[0]}
	t.Run("the second COMMIT is refused", func(t *testing.T) { theSecondCommitIsRefused(t, two) })
	for _, info := range []catalog.Info{mysqllock.GetLock, mysqllock.LockRow,
		mysqllock.LockInsert, sqlrow.ForUpdate, sqlrow.Conditional, sqlrow.Version} {
		t.Run(info.Name, func(t *testing.T) { aHolderAtAnotherNode(t, info, two) })
	}
}

// A transaction whose COMMIT is refused has sold nothing, and is run again from its first read. If every COMMIT is
// refused, the buyer gets a conflict, not an unknown outcome.
func theSecondCommitIsRefused(t *testing.T, two [2]*backend.Instance) {
	const sku = 98_002
	labtest.Must(t, ledger.Migrate(t.Context(), two[0].DB))
	here, there := ledger.NewStore(two[0].DB).For("test"), ledger.NewStore(two[1].DB)
	for _, c := range []struct {
		refused int // how often another node commits first
		want    error
	}{{1, nil}, {100, seckill.ErrConflict}} {
		set := labtest.Value(here.Schedule(t.Context(), sku, "", 1000, nil)).Must(t)
		// a read waits until the reset has arrived, an UPDATE does not
		labtest.Value(there.SKU(t.Context(), sku)).Must(t)
		tries := 0
		p := seckill.Purchase{SKU: sku, User: 1, Quantity: 1, RequestID: "refused"}
		err := here.Tx(t.Context(), func(tx *gorm.DB) error {
			var num int64
			if err := here.ReadIn(tx, &num, "SELECT num FROM stock WHERE id = ? FOR UPDATE", sku); err != nil {
				return err
			}
			if tries++; tries <= c.refused { // another buyer sells at another node
				rows, err := there.Write(t.Context(), "UPDATE stock SET num = num - 1 WHERE id = ?", sku)
				if err != nil || rows != 1 {
					t.Errorf("the other node: %d rows, %v", rows, err)
				}
			}
			if _, _, err := here.Exec(tx, "UPDATE stock SET num = ? WHERE id = ?", num-1, sku); err != nil {
				return err
			}
			_, err := here.Record(tx, p, set.Run, num-1)
			return err
		})
		if !errors.Is(err, c.want) || c.want != nil && !seckill.NothingTaken(err) {
			t.Errorf("refused %d times: told %v, want %v", c.refused, err, c.want)
		}
		snap, err := there.Snapshot(t.Context(), sku)
		own := 1000 - snap.Stock.Num - int64(min(tries, c.refused)) // without the units of the other buyer
		if err != nil || own != int64(len(snap.Orders)) || (own == 1) != (c.want == nil) || tries < 2 {
			t.Errorf("refused %d times, after %d tries: %d units in %d orders, %v", c.refused, tries, own,
				len(snap.Orders), err)
		}
	}
}

// A buyer has read the stock and is about to write it. Then another buyer buys at another node. If
// the first node alone has the lock, the lock keeps nobody out there, and the first buyer
// overwrites the sale. Exactly the strategies that say so must break.
func aHolderAtAnotherNode(t *testing.T, info catalog.Info, two [2]*backend.Instance) {
	settings := catalog.Settings{LockTimes: catalog.LockTimes{LockWait: 300 * time.Millisecond,
		LockLease: 2 * time.Minute, LockPoll: 10 * time.Millisecond}, Retries: 8}
	h := newHarness(t, info, two, settings)
	begun, goOn, late := make(chan struct{}), make(chan struct{}), make(chan judge.Call, 1)
	ctx := taptest.Before(t.Context(), "UPDATE", func() {
		close(begun)
		<-goOn
	})
	go func() {
		r, err := h.Buy(ctx, 1, 2)
		late <- judge.CallOf(h.Purchase(1, 2), r, err)
	}()
	select {
	case <-begun:
	case early := <-late:
		t.Fatalf("the first buyer never came to the write: %+v", early)
	}
	r, err := h.Processes[1].Deduct(t.Context(), h.Purchase(2, 1))
	heard := []judge.Call{judge.CallOf(h.Purchase(2, 1), r, err)}
	// A read waits until the first node has the sale. Without it, the buyer would be refused at
	// COMMIT, and the strategy would hold by luck.
	labtest.Value(ledger.NewStore(two[0].DB).SKU(t.Context(), h.SKU)).Must(t)
	close(goOn)
	heard = append(heard, <-late)
	report := h.Judge(t, heard...)
	lost := slices.ContainsFunc(report.Violations, func(v judge.Violation) bool { return v.Rule == judge.RuleLostUpdate })
	if lost != info.OneNode || !lost && report.Verdict == judge.Oversold {
		t.Errorf("the audit says %s, %+v of %+v; want a lost update: %t", report.Verdict, report.Violations, heard,
			info.OneNode)
	}
	labtest.Same(t, info.Unfit(lab.Galera) != "", info.OneNode, "%s is unfit for several nodes", info.Name)
}

// On a real Redis Cluster with two processes, the strategies in Redis hold or break as they declare. So all keys that a
// strategy has for a SKU are on one node. make verify runs the whole suite there, and on three shards.
func TestSeveralRedis(t *testing.T) {
	topologies := []string{lab.Cluster}
	if labtest.Verify {
		topologies = append(topologies, lab.Ring)
	}
	for _, topology := range topologies {
		l := labtest.NewLab(t, topology, backend.NameRedis)
		for _, info := range strategies.All() {
			if !slices.Contains(info.Needs, backend.Redis) {
				continue
			}
			t.Run(topology+"/"+info.Name, func(t *testing.T) {
				t.Parallel() // most of the time is waiting
				config := labtest.WithRedisOf(t, l, info.Uses()...)
				if labtest.Verify {
					conform(t, info, config)
					return
				}
				h := newHarness(t, info, openTwo(t, config), calm(info))
				h.loadRun(t, 2, h.expected(t))
			})
		}
	}
}

// An address may choose innodb_snapshot_isolation, the default of MariaDB from 11.6.2. A transaction that read before
// it locked is then undone by every purchase in between, so a cancellation locks first: none is refused. (A MySQL has
// no such setting.)
func TestCancellingWithSnapshotIsolation(t *testing.T) {
	for _, name := range []string{"conditional", "conditional-scan", "version", "for-update", "order-first", "bucketed",
		"reserve", "one-trip", "redis-counter-mysql"} {
		t.Run(name, func(t *testing.T) {
			info := strategies.Named(name)
			config, _ := labtest.WithSnapshotIsolation(t, labtest.Config(t, info.Uses()...))
			s := saletest.Open(t, info, 60, catalog.Deps{Instance: labtest.Open(t, config), Settings: patient})
			var g errgroup.Group
			g.SetLimit(16)
			var mu sync.Mutex
			cancelled := 0
			for user := range int64(300) {
				g.Go(func() error {
					r, err := s.Buy(t.Context(), user+1, 1)
					if errors.Is(err, seckill.ErrSoldOut) || errors.Is(err, seckill.ErrConflict) {
						return nil
					}
					if err == nil && user%6 == 0 {
						mu.Lock()
						cancelled++
						mu.Unlock()
						err = s.Processes[0].Restore(t.Context(), r.OrderID)
					}
					return err
				})
			}
			labtest.Check(t, g.Wait(), nil, "purchases at once")
			report := s.Judge(t)
			if report.Verdict != judge.Held || report.Cancelled != cancelled || cancelled == 0 {
				t.Errorf("%s: %d of %d cancelled; %+v", report.Verdict, report.Cancelled, cancelled, report.Violations)
			}
		})
	}
}
