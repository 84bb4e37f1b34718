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

// A World is one strategy on real servers, with as many processes (instances)
// as a scenario asks for. Its database must be its own while it explores; the other
// servers may be shared.
type World struct {
	info     catalog.Info
	options  Options
	config   backend.Config
	settings catalog.Settings
	admin    *backend.Instance // looks, and ends leases; no buyer uses it
	probes   *probe.Set
	numbers  map[int]*process
	closing  sync.WaitGroup // instances of processes that have died
	clock    atomic.Int64   // how far the processes' clocks were moved on, in ns
	began    atomic.Int64   // the second in which the schedule's SKU was made, in ns
	reads    atomic.Int64   // of the clocks, in this schedule
	asksTime atomic.Bool    // the strategy has looked at its process's clock

	rehearsed *Scenario       // has been played once, for nothing
	waited    map[string]bool // moments of its schedules at which the servers said of every command away that it waits

	sku    int64 // of the schedule that runs; every schedule has one of its own
	others bool  // it has a second one
	stock  int64
	placed map[string]seckill.Receipt // orders to be cancelled, by buyer
	names  *Normalizer
}

// Options of a world.
type Options struct {
	// ByHand: schedules last as long as a person thinks.
	ByHand bool
	// Node is the one that NodeLost loses; nil: none can be lost.
	Node *Node
}

// A Node is one server of several, which one schedule of a world can lose.
type Node struct {
	Name string // "the primary with what it had not replicated"
	// Lag is called when the sale is ready, before any buyer comes.
	Lag func(context.Context) error
	// Lose has another server take over, if any must.
	Lose func(context.Context) error
}

// outageLimit bounds how long servers may need to replace one that is lost.
const outageLimit = time.Minute

// answers returns when the servers answer all processes of the world again.
func (w *World) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, outageLimit)
	defer cancel()
	instances := []*backend.Instance{w.admin}
	for _, p := range w.numbers {
		instances = append(instances, p.In)
	}
	for _, in := range instances {
		for slices.ContainsFunc(in.Status(ctx), func(s backend.Status) bool { return !s.OK }) {
			if ctx.Err() != nil {
				return fmt.Errorf("wait until the servers answer without %s: %w", w.options.Node.Name, context.Cause(ctx))
			}
			time.Sleep(quiet)
		}
	}
	return nil
}

// patience is how long leases live and waits last that no fault ends, where a person
// may choose the schedule.
const patience = 24 * time.Hour

// lastSKU was given to a schedule last, in any world: a number that is found in
// any command's text. It begins with the second, as fewer than 1,000 schedules run in
// one: servers still have what earlier programs left there.
var lastSKU atomic.Int64

func init() { lastSKU.Store(7_000_000_000_000 + 1000*time.Now().Unix()) }

// Open makes a world for one strategy on the backends of config that it needs.
func Open(ctx context.Context, info catalog.Info, config backend.Config, o Options) (*World, error) {
	w := &World{info: info, config: config, settings: catalog.DefaultSettings(), options: o, numbers: map[int]*process{}}
	w.config.MaxSQLConns = 8
	w.settings.QueueAtOnce = 1 // two buyers queue already
	// Nothing ends by itself while a schedule runs.
	w.settings.LockWait, w.settings.LockLease, w.settings.Retries = 40*time.Second, 5*time.Minute, 8
	if o.ByHand {
		w.settings.LockWait, w.settings.LockLease = patience, patience
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
	w.probes.Now = w.time
	w.began.Store(time.Now().UnixNano())
	return w, nil
}

// time is what the processes' clocks show: a millisecond more each time they are
// read, from the second in which the stock row was written. By a real clock, a
// schedule that crosses a second would end otherwise than one that does not.
func (w *World) time() time.Time {
	passed := time.Duration(w.reads.Add(1)) * time.Millisecond
	return time.Unix(0, w.began.Load()+w.clock.Load()).Add(passed)
}

// AsksTime reports whether the strategy has looked at its process's clock yet.
func (w *World) AsksTime() bool { return w.asksTime.Load() }

// keepsSessions: a server keeps something for a process beyond its connections.
func (w *World) keepsSessions() bool { return w.admin.ZooKeeper != nil || w.admin.Etcd != nil }

// Close ends every process of the world.
func (w *World) Close() error {
	var errs []error
	for _, p := range w.numbers {
		errs = append(errs, p.In.Close())
	}
	w.closing.Wait()
	return errors.Join(append(errs, w.admin.Close())...)
}

const skuName = "explored"

// fresh makes a SKU that no server has seen, ready for s.
func (w *World) fresh(ctx context.Context, s *Scenario) error {
	last, others := w.sku, slices.ContainsFunc(s.Buyers, func(b Buyer) bool { return b.Other })
	if w.others {
		if err := w.admin.DB.WithContext(ctx).Exec("DELETE FROM stock WHERE id = ?", w.other()).Error; err != nil {
			return fmt.Errorf("clear the table of SKUs: %w", err)
		}
	}
	w.sku, w.stock, w.others = lastSKU.Add(1), s.Stock, others
	w.names = NewNormalizer(w.sku, w.other())
	first, err := w.process(ctx, s.Buyers[0].Process)
	if err != nil {
		return err
	}
	if err := w.seed(ctx, first, last, w.sku, s); err != nil {
		return err
	}
	if others {
		if err := w.seed(ctx, first, 0, w.other(), s); err != nil {
			return err
		}
	}
	w.placed = map[string]seckill.Receipt{}
	for _, b := range s.Buyers {
		if prepare := actorKinds[b.Does].prepare; prepare != nil {
			if err := prepare(ctx, w, first, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// redisPorts are those of this world's connections to Redis, at its own end.
func (w *World) redisPorts() (list []string) {
	for _, p := range w.numbers {
		list = append(list, p.In.Dialer.LocalPorts(tap.Redis)...)
	}
	return list
}

// other is the second SKU of a schedule. Its lock's name is the next one to the
// first's, as those of SKUs 1 and 2 are: nothing lies between them in an index.
func (w *World) other() int64 { return w.sku * 10 }

// firstRun is the run of every schedule's sale until it is set anew.
const firstRun = 1

// seed writes a stock row as its first reset leaves it, in place of the row of another
// SKU, if there is one: strategies that scan the table would meet all that ever were.
func (w *World) seed(ctx context.Context, first *process, last, sku int64, s *Scenario) error {
	row := judge.Stock{ID: sku, Name: skuName, Initial: s.Stock, Num: s.Stock, Version: 1, Run: firstRun, UpdatedAt: time.Now()}
	if s.does(Starts) {
		later := judge.MomentOf(row.UpdatedAt.Add(time.Hour))
		row.StartsAt = &later
	}
	db := w.admin.DB.WithContext(ctx)
	res := db.Model(&judge.Stock{}).Where("id = ?", last).Select("*").UpdateColumns(&row)
	if res.Error == nil && res.RowsAffected == 0 {
		res = db.Create(&row)
	}
	if res.Error != nil {
		return fmt.Errorf("make a fresh SKU: %w", res.Error)
	}
	if sku == w.sku {
		w.began.Store(row.UpdatedAt.Truncate(time.Second).UnixNano())
		w.reads.Store(0)
	}
	// A counter is seeded; ZooKeeper's parent nodes are there, as after any
	// reset. Other locks begin as their very first use finds them.
	if r, ok := first.Strategy.(seckill.Resetter); ok && (w.info.Locker == nil || w.admin.ZooKeeper != nil) {
		if err := r.Reset(ctx, sku, s.Stock); err != nil {
			return fmt.Errorf("make a fresh SKU: %w", err)
		}
	}
	return nil
}

// does reports whether any actor does this.
func (s *Scenario) does(what Does) bool {
	return slices.ContainsFunc(s.Buyers, func(b Buyer) bool { return b.Does == what })
}

// owner is whose order, or request, it is.
func (b Buyer) owner() string {
	if b.Same != "" {
		return b.Same
	}
	return b.Name
}

func (w *World) purchase(b Buyer) seckill.Purchase {
	user := int64(99)
	if b.Name != NextBuyer {
		user = int64(cmp.Or(b.User, b.owner())[0]-'A') + 1
	}
	sku := w.sku
	if b.Other {
		sku = w.other()
	}
	return seckill.Purchase{SKU: sku, User: user, Quantity: b.Quantity, RequestID: fmt.Sprintf("%s-%d", b.owner(), w.sku)}
}

// look reads what the servers keep for the schedule that runs.
func (w *World) look(ctx context.Context) []probe.Value {
	return w.probes.Look(ctx, w.sku, w.names.Normalize)
}

// A process is one instance with the strategy on it.
type process struct {
	*StrategyProcess
	session int64        // in ZooKeeper
	tainted bool         // not to be used for another schedule
	ahead   atomic.Int64 // of the true time, in ns

	service http.Handler // nil until an actor asks it
}

// now is what the clock of the process shows.
func (w *World) now(p *process) time.Time {
	w.asksTime.Store(true)
	return w.time().Add(time.Duration(p.ahead.Load()))
}

func (w *World) process(ctx context.Context, number int) (*process, error) {
	if p := w.numbers[number]; p != nil {
		return p, nil
	}
	p := &process{}
	var err error
	p.StrategyProcess, err = StartProcess(ctx, w.config, w.info, w.settings, func() time.Time { return w.now(p) })
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
	w.numbers[number] = p
	return p, nil
}

// ports are those of its connections to the SQL server, at its own end.
func (p *process) ports() []string { return p.In.Dialer.LocalPorts(tap.SQL) }

// recycle forgets the processes that a schedule has spoilt.
func (w *World) recycle() {
	for number, p := range w.numbers {
		if !p.tainted {
			continue
		}
		delete(w.numbers, number)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		// A statement that was left waiting would be taken for a buyer.
		_, _ = w.probes.Kill(ctx, p.ports())
		cancel()
		w.closing.Go(func() { _ = p.In.Close() })
	}
}
