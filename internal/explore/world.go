package explore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A World is one strategy on real servers, with as many processes (instances)
// as a scenario asks for. The servers must be its own while it explores: it
// asks them how many of their clients wait.
type World struct {
	info     catalog.Info
	config   backend.Config
	settings catalog.Settings
	admin    *backend.Instance // looks, and ends leases; no buyer uses it
	store    *ledger.Store
	numbers  map[int]*process
	spare    chan opened    // a process that is made ready while an order runs
	closing  sync.WaitGroup // instances of processes that have died
	clock    atomic.Int64   // how far the processes' clocks were moved on, in ns
	asksTime atomic.Bool    // the strategy has looked at its process's clock
	mysql    bool           // Oracle's, not MariaDB

	sku    int64 // of the order that runs; every order has one of its own
	run    int64
	placed map[string]seckill.Receipt // orders to be cancelled, by buyer
	tokens map[string]string          // short names of random ones
}

// Settings of a world: nothing ends by itself while an order runs.
func worldSettings() catalog.Settings {
	s := catalog.DefaultSettings()
	s.LockWait, s.LockLease, s.Retries = 40*time.Second, 5*time.Minute, 8
	return s
}

// lastSKU was given to an order last, in any world: a number that is found in
// any command's text, and that no server has seen before.
var lastSKU atomic.Int64

func init() { lastSKU.Store(7_000_000_000) }

// Open makes a world for one strategy on the backends of config that it
// needs. change, if not nil, alters its settings.
func Open(ctx context.Context, info catalog.Info, config backend.Config, change func(*catalog.Settings)) (*World, error) {
	w := &World{info: info, config: config, settings: worldSettings(), numbers: map[int]*process{}}
	if change != nil {
		change(&w.settings)
	}
	w.config.RowLockWait, w.config.MaxSQLConns, w.config.ZooKeeperSession = 40*time.Second, 8, 40*time.Second
	var err error
	if w.admin, err = backend.Open(ctx, w.config); err != nil {
		return nil, err
	}
	if err := ledger.Migrate(ctx, w.admin.DB); err != nil {
		return nil, errors.Join(err, w.admin.Close())
	}
	w.store = ledger.NewStore(w.admin.DB)
	var version string
	if err := w.store.Read(ctx, &version, "SELECT VERSION()"); err != nil {
		return nil, errors.Join(err, w.admin.Close())
	}
	w.mysql = !strings.Contains(version, "MariaDB")
	return w, nil
}

// Lease is how long a lock lives in this world.
func (w *World) Lease() time.Duration { return w.settings.LockLease }

// AsksTime reports whether the strategy has looked at its process's clock yet.
func (w *World) AsksTime() bool { return w.asksTime.Load() }

// Close ends every process of the world.
func (w *World) Close() error {
	var errs []error
	if w.spare != nil {
		if next := <-w.spare; next.err == nil {
			errs = append(errs, next.process.in.Close())
		}
	}
	for _, p := range w.numbers {
		errs = append(errs, p.in.Close())
	}
	w.closing.Wait()
	return errors.Join(append(errs, w.admin.Close())...)
}

// A process is one instance with the strategy on it.
type process struct {
	in       *backend.Instance
	strategy seckill.Strategy
	locker   lock.Locker
	options  lock.Options
	session  int64        // in ZooKeeper
	tainted  bool         // not to be used for another order
	ahead    atomic.Int64 // of the true time, in ns
}

// opened is a process, or why there is none.
type opened struct {
	process *process
	err     error
}

func (w *World) process(ctx context.Context, number int) (*process, error) {
	if p := w.numbers[number]; p != nil {
		return p, nil
	}
	var next opened
	if w.spare != nil {
		next = <-w.spare
		w.spare = nil
	} else {
		next.process, next.err = w.start(ctx)
	}
	if next.err != nil {
		return nil, next.err
	}
	w.numbers[number] = next.process
	return next.process, nil
}

// prepare makes a process ready in the background: orders in which one dies
// need a new one each.
func (w *World) prepare() {
	if w.spare != nil {
		return
	}
	w.spare = make(chan opened, 1)
	go func(ready chan<- opened) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		p, err := w.start(ctx)
		ready <- opened{p, err}
	}(w.spare)
}

func (w *World) start(ctx context.Context) (*process, error) {
	in, err := backend.Open(ctx, w.config)
	if err != nil {
		return nil, err
	}
	p := &process{in: in, options: w.info.LockOptions(w.settings)}
	info := w.info
	if info.Locker != nil {
		info.Locker = func(d catalog.Deps) (lock.Locker, error) {
			inner, err := w.info.Locker(d)
			p.locker = &seen{inner}
			return p.locker, err
		}
	}
	p.strategy, err = catalog.Build(info, catalog.Deps{Instance: in, Ledger: ledger.NewStore(in.DB), Settings: w.settings,
		Now: func() time.Time {
			w.asksTime.Store(true)
			return time.Now().Add(time.Duration(w.clock.Load() + p.ahead.Load()))
		}})
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	if in.ZooKeeper != nil {
		session, err := in.ZooKeeper.Session(ctx)
		if err != nil {
			return nil, errors.Join(err, in.Close())
		}
		p.session = session.ID
	}
	return p, nil
}

// recycle forgets the processes that an order has spoilt.
func (w *World) recycle() {
	for number, p := range w.numbers {
		if !p.tainted {
			continue
		}
		delete(w.numbers, number)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		// A statement that was left waiting would be taken for a buyer.
		_, _ = w.killConnections(ctx, p)
		cancel()
		w.closing.Go(func() { _ = p.in.Close() })
		w.prepare()
	}
}

// seen tells the scheduler who holds the lock.
type seen struct{ lock.Locker }

func (l *seen) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, key, o)
	a, ok := tap.From(ctx).(*actor)
	if err != nil || !ok {
		return lease, err
	}
	if s, ok := lease.(lock.SessionLease); ok {
		_, tx := s.Session().Statement.ConnPool.(gorm.TxCommitter)
		a.tell(event{kind: evHolds, tx: tx})
		return &seenSession{s, a}, nil
	}
	a.tell(event{kind: evHolds})
	return &seenLease{lease, a}, nil
}

func (l *seen) Clear(ctx context.Context, key string) error {
	if c, ok := l.Locker.(lock.Clearer); ok {
		return c.Clear(ctx, key)
	}
	return seckill.ErrBusy
}

type seenLease struct {
	lock.Lease
	actor *actor
}

func (l *seenLease) Release(ctx context.Context) error {
	l.actor.tell(event{kind: evFrees})
	defer l.actor.tell(event{kind: evFreed})
	return l.Lease.Release(ctx)
}

type seenSession struct {
	lock.SessionLease
	actor *actor
}

func (l *seenSession) Release(ctx context.Context) error {
	l.actor.tell(event{kind: evFrees})
	defer l.actor.tell(event{kind: evFreed})
	return l.SessionLease.Release(ctx)
}

// fresh makes a SKU that nobody has seen, ready for s.
func (w *World) fresh(ctx context.Context, s *Scenario) error {
	// Or strategies that scan the table would meet all that ever were.
	if err := w.admin.DB.WithContext(ctx).Exec("DELETE FROM stock WHERE id IN ?", []int64{w.sku, w.other()}).Error; err != nil {
		return fmt.Errorf("clear the table of SKUs: %w", err)
	}
	w.sku = lastSKU.Add(1)
	w.tokens = map[string]string{}
	first, err := w.process(ctx, s.Buyers[0].Process)
	if err != nil {
		return err
	}
	if w.run, err = w.seed(ctx, first, w.sku, s.Stock); err != nil {
		return err
	}
	if slices.ContainsFunc(s.Buyers, func(b Buyer) bool { return b.Other }) {
		if _, err := w.seed(ctx, first, w.other(), s.Stock); err != nil {
			return err
		}
	}
	w.placed = map[string]seckill.Receipt{}
	for _, b := range s.Buyers {
		if b.Does != Cancels {
			continue
		}
		if w.placed[b.Name], err = first.strategy.Deduct(ctx, w.purchase(b)); err != nil {
			return fmt.Errorf("place the order that %s cancels: %w", b.Name, err)
		}
	}
	return nil
}

// other is the second SKU of an order. Its lock's name is the next one to the
// first's, as those of SKUs 1 and 2 are: nothing lies between them in an index.
func (w *World) other() int64 { return w.sku * 10 }

func (w *World) seed(ctx context.Context, first *process, sku, stock int64) (run int64, err error) {
	row, err := w.store.Reset(ctx, sku, "explored", stock)
	if err != nil {
		return 0, fmt.Errorf("make a fresh SKU: %w", err)
	}
	// A counter is seeded; ZooKeeper's parent nodes are there, as after any
	// reset. Other locks begin as their very first use finds them.
	if r, ok := first.strategy.(seckill.Resetter); ok && (w.info.Locker == nil || w.admin.ZooKeeper != nil) {
		if err := r.Reset(ctx, sku, stock); err != nil {
			return 0, fmt.Errorf("make a fresh SKU: %w", err)
		}
	}
	return row.Run, nil
}

func (w *World) purchase(b Buyer) seckill.Purchase {
	user := int64(99)
	if b.Name != NextBuyer {
		user = int64(b.Name[0]-'A') + 1
	}
	sku := w.sku
	if b.Other {
		sku = w.other()
	}
	return seckill.Purchase{SKU: sku, User: user, Quantity: b.Quantity, RequestID: fmt.Sprintf("%s-%d", b.Name, w.sku)}
}

// key is the lock of the order that runs.
func (w *World) key() string { return lockKey(w.info, w.sku) }

func lockKey(i catalog.Info, sku int64) string {
	if i.Key != nil {
		return i.Key(sku)
	}
	return fmt.Sprint("seckill:lock:stock:", sku)
}

// perform is what a buyer does, from the first command to the last.
func (w *World) perform(ctx context.Context, p *process, b Buyer) (seckill.Receipt, error) {
	switch b.Does {
	case Cancels:
		return seckill.Receipt{}, p.strategy.Restore(ctx, w.placed[b.Name].OrderID)
	case Locks:
		return seckill.Receipt{}, w.hold(ctx, p)
	}
	return p.strategy.Deduct(ctx, w.purchase(b))
}

// Work is the backend of the one step that a buyer does under a lock that
// protects nothing.
const Work = "work"

func (w *World) hold(ctx context.Context, p *process) error {
	lease, err := p.locker.Acquire(ctx, w.key(), p.options)
	if err != nil {
		return err
	}
	err = tap.Do(lease.Context(), func() *tap.Command {
		return &tap.Command{Backend: Work, Name: "work", Text: "works under the lock"}
	}, func() error { return nil })
	if left := lease.Release(context.WithoutCancel(ctx)); err == nil {
		err = left
	}
	return err
}

// random finds what is drawn anew in each order: tokens, order numbers,
// ZooKeeper's and etcd's ids; sha finds a script's name.
var (
	random = regexp.MustCompile(`\b[A-Z2-7]{26}\b|\bo[0-9a-z]{28,40}\b|\b\d{19}\b|[0-9a-f]{32}\b|\b[0-9a-f]{15,16}\b|[0-9A-Za-z+/]{22}==|` +
		`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	sha = regexp.MustCompile(`\b([0-9a-f]{6})[0-9a-f]{34}\b`)
)

// anonymous writes the SKU's number as 1 and random tokens as t1, t2, … in the
// order in which they came, so that two orders can be compared, and read.
func (w *World) anonymous(text string) string {
	text = strings.NewReplacer(strconv.FormatInt(w.other(), 10), "2", strconv.FormatInt(w.sku, 10), "1").Replace(text)
	text = sha.ReplaceAllString(text, "$1…")
	return random.ReplaceAllStringFunc(text, func(token string) string {
		if w.tokens[token] == "" {
			w.tokens[token] = fmt.Sprint("t", len(w.tokens)+1)
		}
		return w.tokens[token]
	})
}
