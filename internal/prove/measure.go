package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// What depends on time is measured with short leases, in real time.
const (
	realLease   = 2 * time.Second
	realSession = 4 * time.Second
	realWait    = 30 * time.Second
	settling    = 300 * time.Millisecond
)

func realSettings() catalog.Settings {
	s := catalog.DefaultSettings()
	s.LockLease, s.LockWait, s.Retries = realLease, realWait, 1000
	return s
}

// A party is one process of a strategy in real time.
type party struct {
	in       *backend.Instance
	strategy seckill.Strategy
	locker   lock.Locker
	store    *ledger.Store
}

func (b *bench) party(ctx context.Context) (*party, error) {
	return openParty(ctx, b.info, Only(b.servers.Config(), b.info.Needs), realSettings(), realSession)
}

func openParty(
	ctx context.Context, info catalog.Info, config backend.Config, settings catalog.Settings, session time.Duration,
) (*party, error) {
	config.RowLockWait, config.ZooKeeperSession, config.MaxSQLConns = realWait, session, 24
	in, err := backend.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	p := &party{in: in, store: ledger.NewStore(in.DB)}
	deps := catalog.Deps{Instance: in, Ledger: p.store, Settings: settings}
	if err := ledger.Migrate(ctx, in.DB); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	if p.strategy, err = catalog.Build(info, deps); err == nil {
		if g, ok := p.strategy.(*lock.Guarded); ok {
			p.locker = g.Locker
		}
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return p, nil
}

// The SKUs of measurements, beside those that are explored.
const measuredSKU = 6_000_000_000

// sale makes a SKU for one measurement.
func (p *party) sale(ctx context.Context, number, stock int64) (sku int64, err error) {
	sku = measuredSKU + number
	if _, err := p.store.Reset(ctx, sku, "measured", stock); err != nil {
		return 0, err
	}
	if r, ok := p.strategy.(seckill.Resetter); ok {
		err = r.Reset(ctx, sku, stock)
	}
	return sku, err
}

func buy(sku, user int64) seckill.Purchase {
	return seckill.Purchase{SKU: sku, User: user, Quantity: 1, RequestID: fmt.Sprintf("m%d-%d", sku, user)}
}

// A gate is a tap that stops a purchase before one command, until it is opened.
type gate struct {
	at      func(n int, c *tap.Command) bool
	reached chan struct{}
	open    chan struct{}
	once    sync.Once

	mu   sync.Mutex
	seen []*tap.Command
}

func newGate(at func(n int, c *tap.Command) bool) *gate {
	return &gate{at: at, reached: make(chan struct{}), open: make(chan struct{})}
}

func (g *gate) Before(ctx context.Context, c *tap.Command) error {
	if tap.IsBackground(ctx) {
		return nil
	}
	g.mu.Lock()
	n := len(g.seen)
	g.seen = append(g.seen, c)
	g.mu.Unlock()
	if !g.at(n, c) {
		return nil
	}
	g.once.Do(func() { close(g.reached) })
	<-g.open
	return nil
}

func (g *gate) After(_ context.Context, _ *tap.Command, err error) error { return err }

func (g *gate) commands() []*tap.Command {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.seen)
}

func never(int, *tap.Command) bool { return false }

// last is the index of the last command before which a lone purchase holds
// whatever the strategy holds: its COMMIT, or its last command.
func (p *party) plan(ctx context.Context, sku int64) (commands []*tap.Command, hold int, err error) {
	var g *gate
	for _, user := range []int64{1, 9} { // the first has Redis learn the scripts
		g = newGate(never)
		if _, err := p.strategy.Deduct(tap.With(ctx, g), buy(sku, user)); err != nil {
			return nil, 0, fmt.Errorf("a purchase that nobody disturbs: %w", err)
		}
	}
	commands = g.commands()
	hold = len(commands) - 1
	for i, c := range commands {
		if c.Name == "COMMIT" {
			hold = i
		}
	}
	return commands, hold, nil
}

// holder starts a purchase and returns when it stands before its COMMIT.
// Opening the gate lets it finish; done yields then.
func (p *party) holder(ctx context.Context, sku, user int64, at int) (g *gate, done <-chan error, err error) {
	g = newGate(func(n int, _ *tap.Command) bool { return n == at })
	over := make(chan error, 1)
	go func() {
		_, err := p.strategy.Deduct(tap.With(ctx, g), buy(sku, user))
		over <- err
	}()
	select {
	case <-g.reached:
		return g, over, nil
	case err := <-over:
		return g, over, fmt.Errorf("the purchase was over before it came to command %d: %w", at+1, err)
	case <-ctx.Done():
		return g, over, context.Cause(ctx)
	}
}

// waits says how a buyer waits while another stands before his COMMIT.
func (b *bench) waits(ctx context.Context) (Cell, error) {
	p, err := b.party(ctx)
	if err != nil {
		return Cell{}, err
	}
	defer p.in.Close()
	sku, err := p.sale(ctx, 1, 10)
	if err != nil {
		return Cell{}, err
	}
	alone, hold, err := p.plan(ctx, sku)
	if err != nil {
		return Cell{}, err
	}
	first, done, err := p.holder(ctx, sku, 2, hold)
	if err != nil {
		return Cell{}, err
	}
	g := newGate(never)
	over := make(chan error, 1)
	go func() {
		_, err := p.strategy.Deduct(tap.With(ctx, g), buy(sku, 3))
		over <- err
	}()
	var early bool
	select {
	case <-over:
		early = true
	case <-time.After(settling):
	case <-ctx.Done():
	}
	during := g.commands()
	close(first.open)
	<-done
	if early {
		return Cell{Answer: Measured, Text: "does not wait"}, ctx.Err()
	}
	if err := <-over; err != nil {
		return Cell{}, fmt.Errorf("the buyer who waited was told: %w", err)
	}
	total := len(g.commands())
	return Cell{Answer: Measured, Text: describeWait(during, total-len(alone))}, nil
}

func describeWait(during []*tap.Command, more int) string {
	polls, told := 0, false
	sent := 0
	for _, c := range during {
		switch {
		case c.Name == "back-off":
			polls++
		case c.Backend == tap.Waiting:
			told = true
		default:
			sent++
		}
	}
	what := "queues in the server"
	switch {
	case polls > 0:
		what = "polls"
	case told && sent == 0:
		what = "queues in the process"
	case told:
		what = "is told"
	}
	return fmt.Sprintf("%s; %d commands in %v, %+d in all", what, sent, settling, more)
}

// order has six buyers queue behind a seventh and looks who is served when.
func (b *bench) order(ctx context.Context) (Cell, error) {
	if inProcess(b.info) {
		return b.queue(ctx, 1)
	}
	return b.queue(ctx, 3)
}

const queued = 6

func (b *bench) queue(ctx context.Context, processes int) (Cell, error) {
	parties := make([]*party, processes)
	for i := range parties {
		p, err := b.party(ctx)
		if err != nil {
			return Cell{}, err
		}
		defer p.in.Close()
		parties[i] = p
	}
	overtaken, rounds := 0, 3
	for round := range rounds {
		sku, err := parties[0].sale(ctx, int64(10+round), 100)
		if err != nil {
			return Cell{}, err
		}
		_, hold, err := parties[0].plan(ctx, sku)
		if err != nil {
			return Cell{}, err
		}
		first, done, err := parties[0].holder(ctx, sku, 2, hold)
		if err != nil {
			return Cell{}, err
		}
		var mu sync.Mutex
		var served []int
		var all sync.WaitGroup
		early := false
		for n := range queued {
			gone := make(chan struct{})
			all.Go(func() {
				defer close(gone)
				_, err := parties[n%processes].strategy.Deduct(ctx, buy(sku, int64(10+n)))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					served = append(served, n)
				}
			})
			select {
			case <-gone:
				early = true
			case <-time.After(settling / 6): // the next one comes clearly later
			}
		}
		close(first.open)
		<-done
		all.Wait()
		if early {
			return Cell{Answer: Measured, Text: "nobody waits"}, ctx.Err()
		}
		for i := range served {
			for j := i + 1; j < len(served); j++ {
				if served[j] < served[i] {
					overtaken++
				}
			}
		}
	}
	pairs := rounds * queued * (queued - 1) / 2
	text := "in order"
	if overtaken > 0 {
		text = fmt.Sprintf("luck decides; %d of %d pairs the wrong way round", overtaken, pairs)
	}
	return Cell{Answer: Measured, Text: text}, ctx.Err()
}

func (b *bench) reentrant(ctx context.Context) (Cell, error) {
	if b.info.Locker == nil {
		return Cell{Answer: NotAsked, Text: "not a lock"}, nil
	}
	p, err := b.party(ctx)
	if err != nil {
		return Cell{}, err
	}
	defer p.in.Close()
	sku, err := p.sale(ctx, 30, 10)
	if err != nil {
		return Cell{}, err
	}
	key, o := b.info.Key(sku), b.info.LockOptions(realSettings())
	outer, err := p.locker.Acquire(ctx, key, o)
	if err != nil {
		return Cell{}, err
	}
	defer outer.Release(context.WithoutCancel(ctx))
	o.Wait = 0
	inner, err := p.locker.Acquire(outer.Context(), key, o)
	switch {
	case errors.Is(err, seckill.ErrBusy):
		return Cell{Answer: Measured, Text: "no; he would wait for himself"}, nil
	case err != nil:
		return Cell{}, err
	}
	if err := inner.Release(ctx); err != nil {
		return Cell{}, fmt.Errorf("release the inner lease: %w", err)
	}
	// He must hold it still: another process must not get it.
	other, err := b.party(ctx)
	if err != nil {
		return Cell{}, err
	}
	defer other.in.Close()
	if stranger, err := other.locker.Acquire(ctx, key, o); err == nil {
		stranger.Release(ctx)
		if inProcess(b.info) {
			return Cell{Answer: Measured, Text: "yes"}, nil
		}
		return Cell{Answer: Measured, Text: "no; the inner lock excludes nobody, or its release freed the outer one"}, nil
	}
	return Cell{Answer: Measured, Text: "yes"}, nil
}

// hungHolder lets a holder hang for longer than a lease, with everything around
// him alive, and looks whether the next one gets in.
func (b *bench) hungHolder(ctx context.Context) (Cell, error) {
	if b.info.Guarantees[catalog.S] == catalog.Breaks {
		return Cell{Answer: NotAsked, Text: "nobody waits for a holder"}, nil
	}
	p, err := b.party(ctx)
	if err != nil {
		return Cell{}, err
	}
	defer p.in.Close()
	sku, err := p.sale(ctx, 45, 10)
	if err != nil {
		return Cell{}, err
	}
	_, hold, err := p.plan(ctx, sku)
	if err != nil {
		return Cell{}, err
	}
	next := p
	if !inProcess(b.info) {
		if next, err = b.party(ctx); err != nil {
			return Cell{}, err
		}
		defer next.in.Close()
	}
	first, done, err := p.holder(ctx, sku, 2, hold)
	if err != nil {
		return Cell{}, err
	}
	// A buyer sends his own COMMIT when the row is not held, too: what tells
	// the two apart is whether the next one's purchase ends.
	waiting, cancel := context.WithTimeout(ctx, hungFor)
	begun := time.Now()
	_, err = next.strategy.Deduct(waiting, buy(sku, 3))
	took := time.Since(begun)
	cancel()
	close(first.open)
	<-done
	switch {
	case ctx.Err() != nil:
		return Cell{}, context.Cause(ctx)
	case err == nil && took < settling:
		return Cell{Answer: Measured, Text: "the next gets in"}, nil
	case err == nil:
		return Cell{Answer: Measured, Text: fmt.Sprintf("the next gets in beside him; after %.1f s", took.Seconds())}, nil
	case took < settling && errors.Is(err, seckill.ErrBusy):
		return Cell{Answer: Measured, Text: "the next is told busy"}, nil
	}
	return Cell{Answer: Measured, Text: "the next waits"}, nil
}

// hungFor is longer than a lease, and so short that thirty locks can be asked.
const hungFor = realLease * 7 / 4

// releasedTwice asks whether releasing a second time, when somebody else has
// the lock, frees his.
func (b *bench) releasedTwice(ctx context.Context, c Cell) (Cell, error) {
	p, err := b.party(ctx)
	if err != nil {
		return c, err
	}
	defer p.in.Close()
	sku, err := p.sale(ctx, 40, 10)
	if err != nil {
		return c, err
	}
	key, o := b.info.Key(sku), b.info.LockOptions(realSettings())
	first, err := p.locker.Acquire(ctx, key, o)
	if err != nil {
		return c, err
	}
	if err := first.Release(ctx); err != nil {
		return c, err
	}
	second, err := p.locker.Acquire(ctx, key, o)
	if err != nil {
		return c, err
	}
	defer second.Release(context.WithoutCancel(ctx))
	_ = first.Release(ctx)
	o.Wait = 0
	third, err := p.locker.Acquire(ctx, key, o)
	if err == nil {
		third.Release(ctx)
		c.Answer, c.Rule, c.Text = Breaks, explore.RuleOverlap, "releasing twice frees the lock of whoever has it by then"
		return c, nil
	}
	if !errors.Is(err, seckill.ErrBusy) {
		return c, err
	}
	return c, nil
}

// timeAfterDeath kills a buyer before each of his commands in real time, and
// measures how long the next buyer needs, once for each state that is left
// behind.
func (b *bench) timeAfterDeath(ctx context.Context, c Cell) (Cell, error) {
	probe, err := b.party(ctx)
	if err != nil {
		return c, err
	}
	defer probe.in.Close()
	sku, err := probe.sale(ctx, 50, 10)
	if err != nil {
		return c, err
	}
	commands, _, err := probe.plan(ctx, sku)
	if err != nil {
		return c, err
	}
	var mu sync.Mutex
	known := map[string]bool{} // each state that is left behind is waited for once
	deaths, ctx := errgroup.WithContext(ctx)
	deaths.SetLimit(6)
	for n := range commands {
		if commands[n].Backend == tap.Waiting {
			continue
		}
		deaths.Go(func() error {
			took, err := b.dieBefore(ctx, probe, int64(60+n), n, func(left string) bool {
				mu.Lock()
				defer mu.Unlock()
				if known[left] {
					return false
				}
				known[left] = true
				return true
			})
			mu.Lock()
			defer mu.Unlock()
			c.Wait = max(c.Wait, took.Seconds())
			if err != nil {
				return fmt.Errorf("a buyer who dies before %s: %w", commands[n].Text, err)
			}
			return nil
		})
	}
	if err := deaths.Wait(); err != nil {
		return c, err
	}
	c.Text = fmt.Sprintf("the next gets through after %.1f s at worst (leases of %v, sessions of %v)", c.Wait, realLease, realSession)
	if c.Wait < 0.1 {
		c.Wait, c.Text = 0, "the next gets through at once"
	}
	return c, nil
}

func (b *bench) dieBefore(
	ctx context.Context, probe *party, number int64, n int, isNew func(left string) bool,
) (took time.Duration, err error) {
	sku, err := probe.sale(ctx, number, 10)
	if err != nil {
		return 0, err
	}
	victim, err := b.party(ctx)
	if err != nil {
		return 0, err
	}
	defer victim.in.Close()
	g, done, err := victim.holder(ctx, sku, 1, n)
	if err != nil {
		return 0, err
	}
	victim.in.Kill()
	close(g.open)
	select {
	case <-done:
	case <-time.After(realWait):
		return 0, errors.New("the dead buyer's purchase does not end")
	}
	var states []string
	for _, v := range explore.Peek(ctx, probe.in, b.info, sku) {
		if !strings.HasPrefix(v.Name, "stock.") {
			states = append(states, v.Name+"="+v.Value)
		}
	}
	if !isNew(strings.ReplaceAll(strings.Join(states, " "), fmt.Sprint(sku), "1")) {
		return 0, nil
	}
	begun := time.Now()
	for {
		_, err = probe.strategy.Deduct(ctx, buy(sku, 2))
		if !errors.Is(err, seckill.ErrBusy) && !errors.Is(err, seckill.ErrConflict) || time.Since(begun) > realWait {
			break
		}
	}
	if err != nil {
		return 0, fmt.Errorf("the next buyer is told: %w", err)
	}
	return time.Since(begun), nil
}
