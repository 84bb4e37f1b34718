package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/ledger"
	"seckill/internal/probe"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A World is one strategy on real servers, in as many processes (instances) as a scenario needs. While it explores,
// no other program may use its database. Other programs may use the Redis, ZooKeeper and etcd servers.
type World struct {
	info      catalog.Info
	options   Options
	config    backend.Config
	settings  catalog.Settings
	admin     *backend.Instance // used by the explorer only: no buyer uses it
	probes    *probe.Set
	processes map[int]*process // the keys are the numbers in Buyer.Process
	closing   sync.WaitGroup   // counts the closed processes whose instances are still closing
	worldClock
	sale

	warmedUp *Scenario // the scenario for which warmUp was last called
}

// A worldClock is the clock of all processes of a world.
type worldClock struct {
	clockOffset atomic.Int64 // how far the explorer has moved the clocks ahead, in ns
	createdAt   atomic.Int64 // when the current SKU was created, in ns, rounded down to a second
	clockReads  atomic.Int64 // how often the clocks were read in the current schedule
	clockIsRead atomic.Bool  // the strategy has read its clock at least once
}

// A sale is the part of a World that each schedule sets anew.
type sale struct {
	sku    int64
	stock  int64
	placed map[string]seckill.Receipt // the orders placed before the first step; the keys are names of buyers
	// extraUnits has an entry for each actor that resets the sale. The actor sets the stock to World.stock plus this
	// number, which differs from actor to actor.
	extraUnits map[string]int64
	names      *Normalizer
}

// Options configure a World.
type Options struct {
	// ByHand makes leases and lock waits so long that a person has time to choose each step.
	ByHand bool
	// Node is the server that the fault NodeLost stops. If it is nil, no server can be stopped.
	Node *Node
}

// A Node is one of several servers. At most one schedule of a world can lose it, because it is not started again.
type Node struct {
	Name string // the node's name in steps, such as "the primary with what it had not replicated"
	// Lag is called when the sale is ready and before the first buyer starts. It stops replication, if there is any.
	Lag func(context.Context) error
	// Lose stops the server and, if necessary, has another one take over.
	Lose func(context.Context) error
}

const outageLimit = time.Minute

func (w *World) awaitServers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, outageLimit)
	defer cancel()
	instances := []*backend.Instance{w.admin}
	for _, p := range w.processes {
		instances = append(instances, p.In)
	}
	for _, in := range instances {
		for slices.ContainsFunc(in.Status(ctx), func(s backend.Status) bool { return !s.OK }) {
			if ctx.Err() != nil {
				return fmt.Errorf("wait until the servers answer without %s: %w",
					w.options.Node.Name, context.Cause(ctx))
			}
			time.Sleep(replyTime)
		}
	}
	return nil
}

const byHandLimit = 24 * time.Hour

// lastScheduleSKU is the SKU of the last schedule in any world. Each schedule has a SKU of its own, with so many
// digits that it can be found in the text of any command. Servers may still have the SKUs of earlier programs. So
// the first SKU is computed from the time, and grows by 1,000 with each second.
var lastScheduleSKU atomic.Int64

func init() { lastScheduleSKU.Store(seckill.ExploredSKU + 1000*time.Now().Unix()) }

// Open creates a world that runs the strategy info on the backends of config.
func Open(ctx context.Context, info catalog.Info, config backend.Config, o Options) (*World, error) {
	w := &World{info: info, config: config, settings: catalog.DefaultSettings(), options: o,
		processes: map[int]*process{}}
	w.config.MaxSQLConns = 8
	w.settings.QueueAtOnce = 1 // a process lets one buyer through at a time, so others queue
	// These times are so long that no wait and no lease ends by itself while a schedule runs.
	w.settings.LockWait, w.settings.LockLease, w.settings.Retries = 40*time.Second, 5*time.Minute, 8
	if o.ByHand {
		w.settings.LockWait, w.settings.LockLease = byHandLimit, byHandLimit
	}
	w.config.RowLockWait, w.config.ZooKeeperSession = w.settings.LockWait, 40*time.Second
	var err error
	if w.admin, err = backend.Open(ctx, w.config); err != nil {
		return nil, err
	}
	if err = ledger.Migrate(ctx, w.admin.DB); err != nil {
		return nil, errors.Join(err, w.admin.Close())
	}
	w.probes = probe.Of(w.admin, info)
	w.probes.Now = w.clockTime
	w.createdAt.Store(time.Now().UnixNano())
	return w, nil
}

// clockTime returns the time of the world's clock: the second in which the stock row was written,
// plus a millisecond for each reading of the clock. A real clock would make the result depend on
// whether a schedule crosses the end of a second.
func (w *World) clockTime() time.Time {
	passed := time.Duration(w.clockReads.Add(1)) * time.Millisecond
	return time.Unix(0, w.createdAt.Load()+w.clockOffset.Load()).Add(passed)
}

// ReadsClock reports whether the strategy has read its process's clock so far.
func (w *World) ReadsClock() bool { return w.clockIsRead.Load() }

// hasLock reports whether the strategy is a lock. If it is not, an open transaction takes the place of the lease.
func (w *World) hasLock() bool { return w.info.Locker != nil }

// keepsSessions reports whether a server keeps state for a process beyond its connections (a
// ZooKeeper session, an etcd lease).
func (w *World) keepsSessions() bool { return w.admin.ZooKeeper != nil || w.admin.Etcd != nil }

// Close closes every process of the world.
func (w *World) Close() error {
	var errs []error
	for _, p := range w.processes {
		errs = append(errs, p.In.Close())
	}
	w.closing.Wait()
	return errors.Join(append(errs, w.admin.Close())...)
}

const skuName = "explored"

// prepareSale creates a SKU for a schedule of s and places the orders that the actors need.
func (w *World) prepareSale(ctx context.Context, s *Scenario) error {
	// A strategy that scans the table must not find the SKUs of the last schedule.
	deleted := w.admin.DB.WithContext(ctx).Exec("DELETE FROM stock WHERE id IN (?, ?)", w.sku, w.otherSKU())
	if deleted.Error != nil {
		return fmt.Errorf("clear the table of SKUs: %w", deleted.Error)
	}
	w.sku, w.stock = lastScheduleSKU.Add(1), s.Stock
	w.names = NewNormalizer(w.sku, w.otherSKU())
	for _, b := range s.Buyers {
		if b.Action == Restocks {
			w.names.markHash(judge.OperatorOf(w.purchase(b).RequestID))
		}
	}
	first, err := w.process(ctx, s.Buyers[0].Process)
	if err != nil {
		return err
	}
	skus := []int64{w.sku}
	if slices.ContainsFunc(s.Buyers, func(b Buyer) bool { return b.Other }) {
		skus = append(skus, w.otherSKU())
	}
	created := time.Now()
	w.createdAt.Store(created.Truncate(time.Second).UnixNano())
	w.clockReads.Store(0)
	for _, sku := range skus {
		if err := w.seedSKU(ctx, first, sku, created, s); err != nil {
			return fmt.Errorf("make a fresh SKU: %w", err)
		}
	}
	w.placed, w.extraUnits = map[string]seckill.Receipt{}, map[string]int64{}
	for _, b := range s.Buyers {
		if b.Action == Resets {
			w.extraUnits[b.Name] = int64(len(w.extraUnits))
		}
		if prepare := actorKinds[b.Action].prepare; prepare != nil {
			if err := prepare(ctx, w, first, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// otherSKU returns the second SKU of a schedule. It begins with the digits of the first SKU, so the names of the two
// SKUs' locks are neighbours in an index. A gap lock next to the first name then also covers the second name, as in a
// table that has only these two names.
func (w *World) otherSKU() int64 { return w.sku * 10 }

// firstRun is the run number of a sale that no actor has reset.
const firstRun = 1

// seedSKU writes the stock row of sku as a first reset would leave it.
func (w *World) seedSKU(ctx context.Context, first *process, sku int64, created time.Time, s *Scenario) error {
	row := judge.Stock{ID: sku, Name: skuName, Initial: s.Stock, Num: s.Stock, Version: 1, Run: firstRun,
		UpdatedAt: created}
	if s.has(Starts) {
		later := judge.MomentOf(created.Add(time.Hour))
		row.StartsAt = &later
	}
	if err := w.admin.DB.WithContext(ctx).Create(&row).Error; err != nil {
		return err
	}
	// A strategy with a counter writes the counter now. A lock in ZooKeeper creates its parent nodes, as at any
	// reset. Other locks start without any data, as when they are used for the first time.
	if r, ok := first.Strategy.(seckill.Resetter); ok && (!w.hasLock() || w.admin.ZooKeeper != nil) {
		return r.Reset(ctx, sku, s.Stock)
	}
	return nil
}

func (s *Scenario) has(what Action) bool {
	return slices.ContainsFunc(s.Buyers, func(b Buyer) bool { return b.Action == what })
}

// owner returns the buyer whose order or request b acts on.
func (b Buyer) owner() string {
	if b.Same != "" {
		return b.Same
	}
	return b.Name
}

func (w *World) purchase(b Buyer) seckill.Purchase {
	user := int64(99)
	if b.Name != NextBuyer || b.User != "" {
		user = int64(cmp.Or(b.User, b.owner())[0]-'A') + 1
	}
	sku := w.sku
	if b.Other {
		sku = w.otherSKU()
	}
	return seckill.Purchase{SKU: sku, User: user, Quantity: b.Quantity,
		RequestID: fmt.Sprintf("%s-%d", b.owner(), w.sku)}
}

// returningUser returns the first buyer whose order was cancelled or belongs to an earlier sale, and who has no order
// in the current sale; "" if there is none. This buyer may buy again. After a fault, returningUser returns "" too,
// because the fault may have interrupted the cancellation or the reset.
func (w *World) returningUser(ctx context.Context, s *Schedule) (name string, err error) {
	if s.Faulty() || !s.Scenario.has(Cancels) && !s.Scenario.has(Resets) {
		return "", nil
	}
	var user *rune
	err = w.admin.DB.WithContext(ctx).Raw("SELECT MIN(user_id) FROM orders o WHERE sku_id = ? AND user_id BETWEEN 1 AND ? "+
		"AND status <> 'refused' AND NOT EXISTS (SELECT 1 FROM orders h JOIN stock s ON s.id = h.sku_id AND s.run = h.run "+
		"WHERE h.sku_id = o.sku_id AND h.user_id = o.user_id AND h.status = 'active')", w.sku, len(s.Scenario.Buyers)).Scan(&user).Error
	if err != nil || user == nil {
		return "", err
	}
	return string('A' - 1 + *user), nil
}

func (w *World) readServers(ctx context.Context) []probe.Value {
	return w.probes.Values(ctx, w.sku, w.names.Normalize)
}

type process struct {
	*StrategyProcess
	session    int64        // id of the process's ZooKeeper session
	tainted    bool         // a schedule has changed the process, so no later schedule may use it
	clockAhead atomic.Int64 // how far a fault has moved this process's clock ahead of the others, in ns

	service http.Handler // nil until an actor sends the service a request
}

func (w *World) processTime(p *process) time.Time {
	w.clockIsRead.Store(true)
	return w.clockTime().Add(time.Duration(p.clockAhead.Load()))
}

func (w *World) process(ctx context.Context, number int) (*process, error) {
	if p := w.processes[number]; p != nil {
		return p, nil
	}
	p := &process{}
	var err error
	p.StrategyProcess, err = StartProcess(ctx, w.config, w.info, w.settings,
		func() time.Time { return w.processTime(p) })
	if err != nil {
		return nil, err
	}
	if p.In.ZooKeeper != nil {
		session, err := p.In.ZooKeeper.Session(ctx)
		if err != nil {
			return nil, errors.Join(err, p.In.Close())
		}
		p.session = session.ID
	}
	w.processes[number] = p
	return p, nil
}

func (p *process) sqlPorts() []string { return p.In.Dialer.LocalPorts(tap.SQL) }

func (w *World) closeTainted() {
	for number, p := range w.processes {
		if !p.tainted {
			continue
		}
		delete(w.processes, number)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		// Kill the statements that still wait in the server, because they would look like those of a later buyer.
		_, _ = w.probes.Kill(ctx, p.sqlPorts())
		cancel()
		w.closing.Go(func() { _ = p.In.Close() })
	}
}
