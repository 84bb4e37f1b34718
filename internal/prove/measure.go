package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/probe"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// These times apply while prove measures how a strategy behaves in real time.
const (
	realLease   = 2 * time.Second
	realSession = 4 * time.Second
	realWait    = 30 * time.Second
	settleTime  = 300 * time.Millisecond
)

func realSettings() catalog.Settings {
	s := catalog.DefaultSettings()
	s.LockLease, s.LockWait, s.Retries = realLease, realWait, 1000
	return s
}

// A client is a process with one strategy on it, for measurements in real time.
type client struct {
	*explore.StrategyProcess
	probes *probe.Set
}

func (t *trial) openSale(ctx context.Context) (p *client, sku int64, err error) {
	if p, err = t.openClient(ctx); err != nil {
		return nil, 0, err
	}
	if sku, err = p.newSale(ctx, 10); err != nil {
		return nil, 0, errors.Join(err, p.In.Close())
	}
	return p, sku, nil
}

func (t *trial) openClient(ctx context.Context) (*client, error) {
	config := t.config()
	config.RowLockWait, config.ZooKeeperSession, config.MaxSQLConns = realWait, realSession, 24
	p, err := explore.StartProcess(ctx, config, t.info, realSettings(), nil)
	if err != nil {
		return nil, err
	}
	if err := ledger.Migrate(ctx, p.In.DB); err != nil {
		return nil, errors.Join(err, p.In.Close())
	}
	return &client{p, probe.Of(p.In, t.info)}, nil
}

// lastMeasuredSKU is the SKU of the last measurement in any trial. Each measurement has a SKU of its own, and no
// schedule of package explore uses such a SKU.
var lastMeasuredSKU atomic.Int64

func init() { lastMeasuredSKU.Store(seckill.MeasuredSKU) }

func (p *client) newSale(ctx context.Context, stock int64) (int64, error) {
	sku := lastMeasuredSKU.Add(1)
	return sku, p.Reset(ctx, sku, "measured", stock)
}

func measuredPurchase(sku, user int64) seckill.Purchase {
	return seckill.Purchase{SKU: sku, User: user, Quantity: 1, RequestID: fmt.Sprintf("m%d-%d", sku, user)}
}

// lockQuestions returns the questions about how a lock behaves. They are answered by measuring in real time.
func lockQuestions() []Question {
	return []Question{
		{ID: "waits", Title: "how it waits", Choosing: true,
			Asks: "What a buyer does while another holds the lock, and how many commands that costs in 300 ms.",
			ask:  atLock(measureWait)},
		{ID: "order", Title: "first come first served",
			Asks: "Six buyers come one after another while a seventh holds the lock: do they get it in that order?",
			ask:  atLock(measureOrder)},
		{ID: "reentrant", Title: "reentrant",
			Asks: "Does the holder get the lock again when it passes its lease's context on?",
			applies: func(_ context.Context, t *trial) (string, error) {
				if t.info.Locker == nil {
					return "not a lock", nil
				}
				return "", nil
			}, ask: atLock(measureReentrancy)},
		{ID: NodeLossQuestion, Title: "loss of one node",
			Asks: "One server of the lock's backend is lost while the lock is held.",
			applies: func(_ context.Context, t *trial) (string, error) {
				_, whyNot := ensembleOf(t.info)
				return whyNot, nil
			}, premise: "it breaks with every node alive", ask: loseNodes},
	}
}

// The measured questions are about the lock only. So a holder stops after Acquire, before the transaction of the
// purchase begins. In the transaction, the holder would also have locked the stock row. The next buyer would then
// wait for the row, whatever lock the strategy uses.

// A buyer takes the lock once, in real time.
type buyer struct {
	*client
	*explore.Gate
	sku, user int64
	wait      time.Duration // the maximum wait for the lock; 0 stands for the default
	lease     lock.Lease
	result    chan error // receives the result of the purchase that startPurchase has started
}

// newBuyer returns a buyer that has not started. A strategy without a lock.Locker may lock by a
// statement (FOR UPDATE, GET_LOCK) and hold the lock until its transaction ends. The buyer of such a
// strategy stops before the first write, when it certainly has the lock.
func (p *client) newBuyer(sku, user int64) *buyer {
	return p.stoppedBuyer(sku, user, func(_ int, c *tap.Command) bool { return p.Locker == nil && isWrite(c) })
}

// stoppedBuyer returns a buyer whose purchase stops before the first command for which stopAt returns true.
func (p *client) stoppedBuyer(sku, user int64, stopAt func(n int, c *tap.Command) bool) *buyer {
	g := explore.NewGate(explore.NewRecorder(explore.NewNormalizer()), "", stopAt)
	return &buyer{client: p, Gate: g, sku: sku, user: user, result: make(chan error, 1)}
}

func isWrite(c *tap.Command) bool {
	return c.Backend == tap.SQL && slices.Contains([]string{"INSERT", "UPDATE", "DELETE", "CALL"}, c.Name)
}

// acquire returns nil when the buyer has the lock. The caller must then call release.
func (b *buyer) acquire(ctx context.Context) (err error) {
	ctx = tap.With(ctx, b.Gate)
	if b.Locker != nil {
		o := b.Info.LockOptions(realSettings())
		o.Wait = cmp.Or(b.wait, o.Wait)
		b.lease, err = b.Locker.Acquire(ctx, b.Info.Key(b.sku), o)
		return err
	}
	return b.startPurchase(ctx)
}

// startPurchase starts the purchase and returns when one of its commands has stopped at the gate (explore.Gate). The
// purchase can end first: with several nodes, it waits only for the answers of a majority. Then startPurchase still
// waits for a later command.
func (b *buyer) startPurchase(ctx context.Context) error {
	go func() {
		_, err := b.Strategy.Deduct(ctx, measuredPurchase(b.sku, b.user))
		b.result <- err
	}()
	select {
	case <-b.Reached:
		return nil
	case err := <-b.result:
		if err == nil {
			b.result <- nil
			err = b.awaitLateCommand()
		}
		if err != nil {
			b.Open() // a late command must not wait for ever, because then the backends cannot be closed
		}
		return err
	}
}

func (b *buyer) awaitLateCommand() error {
	select {
	case <-b.Reached:
		return nil
	case <-time.After(realWait):
		return errNoLateCommand
	}
}

var errNoLateCommand = errors.New("the purchase is over, and none of its commands came to the gate")

// release releases the lock. A purchase that has stopped at its gate continues to its end.
func (b *buyer) release() {
	if b.lease != nil {
		_ = b.lease.Release(context.Background()) // the lease may have ended, so an error does not matter
		return
	}
	b.Open()
	<-b.result
}

func (p *client) undisturbedCommands(ctx context.Context, sku int64) ([]*tap.Command, error) {
	var b *buyer
	// The first purchase makes Redis load the scripts, so only the commands of the second one count.
	for _, user := range []int64{1, 9} {
		b = p.stoppedBuyer(sku, user, func(int, *tap.Command) bool { return false })
		if _, err := p.Strategy.Deduct(tap.With(ctx, b.Gate), measuredPurchase(sku, user)); err != nil {
			return nil, fmt.Errorf("an undisturbed purchase: %w", err)
		}
	}
	return b.Commands(), nil
}

func (p *client) takesLock(ctx context.Context, sku int64) (bool, error) {
	sent, err := p.undisturbedCommands(ctx, sku)
	if first := slices.IndexFunc(sent, isWrite); first >= 0 {
		sent = sent[:first]
	}
	return p.Locker != nil || slices.ContainsFunc(sent, func(c *tap.Command) bool {
		return strings.Contains(c.Text, "FOR UPDATE") || strings.Contains(c.Text, "GET_LOCK(")
	}), err
}

// atLock returns a function for Question.ask. The function calls measure if the strategy takes a lock; otherwise the
// answer is NotAsked.
func atLock(measure func(_ context.Context, _ *trial, _ *client, sku int64) (Cell, error)) askFunc {
	return func(ctx context.Context, t *trial) (Cell, error) {
		p, sku, err := t.openSale(ctx)
		if err != nil {
			return Cell{}, err
		}
		defer p.In.Close()
		locks, err := p.takesLock(ctx, sku)
		if err != nil || !locks {
			why := "it is not a lock: a buyer holds nothing between reading and writing"
			return Cell{Answer: NotAsked, Text: why}, err
		}
		return measure(ctx, t, p, sku)
	}
}

func measureWait(ctx context.Context, _ *trial, p *client, sku int64) (Cell, error) {
	first, second := p.newBuyer(sku, 2), p.newBuyer(sku, 3)
	if err := first.acquire(ctx); err != nil {
		return Cell{}, err
	}
	got := make(chan error, 1)
	go func() {
		err := second.acquire(ctx)
		if err == nil {
			second.release()
		}
		got <- err
	}()
	select {
	case err := <-got:
		first.release()
		return earlyCell(err, "does not wait; is told busy", "does not wait; gets in beside the holder")
	case <-time.After(settleTime):
	case <-ctx.Done():
	}
	during := second.Commands()
	first.release()
	if err := <-got; err != nil {
		return Cell{}, fmt.Errorf("the waiting buyer was told: %w", err)
	}
	return Cell{Answer: Measured, Text: describeWait(during)}, nil
}

// earlyCell returns the cell for a buyer whose attempt to get the lock ended, with the error err, before the
// holder released the lock. If err is nil, the buyer got the lock.
func earlyCell(err error, ifRefused, ifGranted string) (Cell, error) {
	switch {
	case err == nil:
		return Cell{Answer: Measured, Text: ifGranted}, nil
	case errors.Is(err, seckill.ErrBusy):
		return Cell{Answer: Measured, Text: ifRefused}, nil
	}
	return Cell{}, fmt.Errorf("a buyer that met the holder was told: %w", err)
}

func describeWait(during []*tap.Command) string {
	var polls, told bool
	sent := 0
	for _, c := range during {
		switch {
		case c.Name == "back-off":
			polls = true
		case c.Backend == tap.Waiting:
			told = true
		default:
			sent++
		}
	}
	what := "queues in the server"
	switch {
	case polls:
		what = "polls"
	case told && sent == 0:
		what = "queues in the process"
	case told:
		what = "is told"
	}
	return fmt.Sprintf("%s; %s in %v", what, roughCount(sent), settleTime)
}

// roughCount describes a number of commands so roughly that two runs give the same words.
func roughCount(n int) string {
	switch {
	case n == 0:
		return "no command"
	case n == 1:
		return "one command"
	case n < 8:
		return "a few commands"
	}
	return "many commands"
}

// measureOrder queues six buyers behind a seventh and checks the order in which they get the lock.
func measureOrder(ctx context.Context, t *trial, p *client, _ int64) (Cell, error) {
	s, err := t.searchFaultless(ctx, 2)
	if err != nil {
		return Cell{}, err
	}
	clients := []*client{p}
	for len(clients) < 3 && !s.sellsWrongly() {
		other, sku, err := t.openSale(ctx)
		if err != nil {
			return Cell{}, err
		}
		defer other.In.Close()
		if _, err := other.undisturbedCommands(ctx, sku); err != nil { // opens sessions before the measurement
			return Cell{}, err
		}
		clients = append(clients, other)
	}
	for range orderRounds {
		sku, err := clients[0].newSale(ctx, 100)
		if err != nil {
			return Cell{}, err
		}
		granted, cell, err := queueBuyers(ctx, clients, sku)
		if err != nil || granted == nil {
			return cell, err
		}
		if !slices.IsSorted(granted) {
			return Cell{Answer: Measured, Text: "luck decides"}, ctx.Err()
		}
	}
	return Cell{Answer: Measured, Text: "in order"}, ctx.Err()
}

const (
	queueLength = 6
	// orderRounds is how often measureOrder repeats the queue. One round is not enough, because a lock may change the
	// buyers' order only sometimes.
	orderRounds = 12
)

// queueBuyers starts buyers one after another while the first buyer has the lock, and returns the order in which
// they get the lock. If they do not queue, granted is nil, and c is the answer.
func queueBuyers(ctx context.Context, clients []*client, sku int64) (granted []int, c Cell, err error) {
	first := clients[0].newBuyer(sku, 2)
	if err := first.acquire(ctx); err != nil {
		return nil, c, err
	}
	type answer struct {
		n   int
		err error
	}
	answers := make(chan answer, queueLength)
	var all sync.WaitGroup
	for n := range queueLength {
		b := clients[n%len(clients)].newBuyer(sku, int64(10+n))
		before, err := first.probes.Waits(ctx)
		if err != nil {
			first.release()
			all.Wait()
			return nil, c, err
		}
		gone := make(chan struct{})
		all.Go(func() {
			defer close(gone)
			err := b.acquire(ctx)
			answers <- answer{n, err}
			if err == nil {
				b.release()
			}
		})
		if !awaitArrival(ctx, b, len(before), gone) {
			break // b has ended without waiting, so there is no queue
		}
	}
	early := len(answers) > 0
	first.release()
	all.Wait()
	if early {
		c, err = earlyCell((<-answers).err, "no queue; the others are told busy",
			"no queue; the others get in beside the holder")
		return nil, c, err
	}
	close(answers)
	for a := range answers {
		granted, err = append(granted, a.n), errors.Join(err, a.err)
	}
	return granted, c, err
}

// awaitArrival returns true when the buyer b waits for the lock. It returns a short time after that, so that the next
// buyer clearly starts later. It returns false if the buyer does not wait.
func awaitArrival(ctx context.Context, b *buyer, before int, gone <-chan struct{}) bool {
	look := time.NewTicker(settleTime / 60)
	defer look.Stop()
	for !b.isWaiting(ctx, before) {
		select {
		case <-gone:
			return false
		case <-ctx.Done():
			return false
		case <-look.C:
		}
	}
	select {
	case <-gone:
		return false
	case <-time.After(settleTime / 30):
		return true
	}
}

// isWaiting reports whether the buyer waits for a lock. The buyer may wait inside its process, for example between two
// polls. Or it waits inside a server that now lists more waiting commands than the argument before.
func (b *buyer) isWaiting(ctx context.Context, before int) bool {
	var unanswered time.Duration // the age of the oldest command that has no answer
	sent, _ := b.Snapshot()
	for _, c := range sent {
		switch {
		case c.Background:
		case c.Backend == tap.Waiting:
			return true
		case !c.Done:
			unanswered = max(unanswered, time.Duration(c.Took)*time.Microsecond)
		}
	}
	if unanswered <= settleTime/30 {
		return false
	}
	now, err := b.probes.Waits(ctx)
	// Some servers do not list waiting commands. So a command without an answer for half a lease also counts.
	return err == nil && len(now) > before || unanswered > realLease/2
}

// measureHungHolder lets a holder hang for longer than a lease while its process lives, and checks
// whether the next buyer gets the lock.
func measureHungHolder(ctx context.Context, t *trial, p *client, sku int64) (Cell, error) {
	next := p
	if t.processes > 1 {
		other, err := t.openClient(ctx)
		if err != nil {
			return Cell{}, err
		}
		defer other.In.Close()
		next = other
	}
	holder, other := p.newBuyer(sku, 2), next.newBuyer(sku, 3)
	if err := holder.acquire(ctx); err != nil {
		return Cell{}, err
	}
	begun := time.Now()
	deadline := begun.Add(hungFor)
	waiting, cancel := context.WithDeadline(ctx, deadline)
	letIn := make(chan bool, 1)
	go func() { letIn <- next.Locker != nil && next.admitsImpatient(waiting, sku) }()
	err := other.acquire(waiting)
	took := time.Since(begun)
	// A connection may report the deadline shortly before the context does, so this compares times.
	outwaited := !time.Now().Before(deadline)
	cancel()
	if err == nil {
		other.release()
	}
	early := <-letIn
	holder.release()
	switch {
	case early:
		return Cell{Answer: Breaks, Rule: explore.RuleOverlap,
			Text: "who waits for a second is let in beside the holder when it is over"}, nil
	case ctx.Err() != nil:
		return Cell{}, context.Cause(ctx)
	case err == nil && took > realLease/2:
		return Cell{Answer: Measured, Text: "the next gets in; the holder's lease has ended"}, nil
	case err != nil && outwaited:
		return Cell{Answer: Measured, Text: "the next waits"}, nil
	}
	return earlyCell(err, "the next is told busy", "the next gets in; at once")
}

// admitsImpatient lets a buyer who waits for only half a lease ask for the lock. It reports whether this buyer gets
// the lock while the holder's lease certainly has not ended.
func (p *client) admitsImpatient(ctx context.Context, sku int64) bool {
	b, begun := p.newBuyer(sku, 4), time.Now()
	b.wait = realLease / 2
	if b.acquire(ctx) != nil {
		return false
	}
	early := time.Since(begun) < realLease*3/4
	b.release()
	return early
}

const hungFor = realLease * 7 / 4

// measureReentrancy takes a lock, and asks for the same lock again with the context of the first lease.
func measureReentrancy(ctx context.Context, t *trial, p *client, sku int64) (Cell, error) {
	key, o := t.info.Key(sku), t.info.LockOptions(realSettings())
	outer, err := p.Locker.Acquire(ctx, key, o)
	if err != nil {
		return Cell{}, err
	}
	defer outer.Release(context.WithoutCancel(ctx))
	o.Wait = 0
	inner, err := p.Locker.Acquire(outer.Context(), key, o)
	switch {
	case errors.Is(err, seckill.ErrBusy):
		return Cell{Answer: Measured, Text: "no; the holder would wait for itself"}, nil
	case err != nil:
		return Cell{}, err
	}
	if err := inner.Release(ctx); err != nil {
		return Cell{}, fmt.Errorf("release the inner lease: %w", err)
	}
	// The outer lock must still be held, so another process must not get it.
	other, err := t.openClient(ctx)
	if err != nil {
		return Cell{}, err
	}
	defer other.In.Close()
	if stranger, err := other.Locker.Acquire(ctx, key, o); err == nil {
		stranger.Release(ctx)
		s, err := t.searchFaultless(ctx, 2)
		if err != nil || !s.sellsWrongly() {
			return Cell{Answer: Measured,
				Text: "no; the inner lock excludes no one, or its release freed the outer one"}, err
		}
	}
	return Cell{Answer: Measured, Text: "yes"}, nil
}

// releaseTwice releases a lock, lets another buyer take it, and releases the first lease again. It
// checks whether the second release frees the other buyer's lock.
func releaseTwice(ctx context.Context, t *trial, c Cell) (Cell, error) {
	p, sku, err := t.openSale(ctx)
	if err != nil {
		return c, err
	}
	defer p.In.Close()
	key, o := t.info.Key(sku), t.info.LockOptions(realSettings())
	first, err := p.Locker.Acquire(ctx, key, o)
	if err != nil {
		return c, err
	}
	if err := first.Release(ctx); err != nil {
		return c, err
	}
	second, err := p.Locker.Acquire(ctx, key, o)
	if err != nil {
		return c, err
	}
	defer second.Release(context.WithoutCancel(ctx))
	_ = first.Release(ctx)
	o.Wait = 0
	third, err := p.Locker.Acquire(ctx, key, o)
	if errors.Is(err, seckill.ErrBusy) {
		return c, nil
	}
	if err == nil {
		third.Release(ctx)
		c.Answer, c.Rule, c.Text = Breaks, explore.RuleOverlap, "a second release frees the next holder's lock"
	}
	return c, err
}
