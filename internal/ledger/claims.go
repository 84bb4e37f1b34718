package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// ErrInProgress: another copy of the same request is being worked on.
var ErrInProgress = errors.New("another copy of this request is in progress")

const (
	// mostClaims bounds one statement.
	mostClaims = 256
	// claimTimeout bounds how long one statement may take.
	claimTimeout = 3 * time.Second
	// lull is how long a key that was given up waits for a claim to travel
	// with. Until then a copy at another process is told that it is in progress.
	lull = 5 * time.Millisecond
	// gather is how long a claim waits for others to travel with, and crowd says
	// for how many: one for each crowd requests that are being worked on. A
	// statement for one key costs ten times as much per key as one for many, and
	// where so many buyers are under way, the wait is a small part of theirs.
	gather, crowd = time.Millisecond, 8
	// vanished is how long the server keeps the keys of a process whose machine
	// went away without closing its connection, at least.
	vanished = time.Minute
)

// Claims say which requests are being worked on, by any process on the
// database. A request is a user and an idempotency key; only the process that
// has claimed it sells for it.
//
// A claim is a named lock of one session that the process keeps for this
// purpose (GET_LOCK). It ends with release; when the process dies the server
// frees it as soon as it sees the connection close, and after a minute when a
// whole machine disappears. While a process stands still it keeps its claims:
// it may go on and get the order.
//
// One statement claims the key and looks up the order that the request has
// already, so a claim costs a purchase no command more than the look-up alone.
// Requests that come while a statement is under way share the next one, and
// keys that are given up travel with them.
//
// On SQLite, which has no named locks, claims hold within the process only.
type Claims struct {
	store *Store
	db    *sql.DB       // at most one connection: the session that owns the locks
	idle  time.Duration // after which the server ends the session

	mu      sync.Mutex
	mine    map[requestKey]bool // claimed here, or asked for; true: the server has granted it
	asking  line[*claim]
	freed   []freed
	working bool
	wake    chan struct{} // a claim came while the worker waits for one

	scope string // the database: named locks belong to the whole server
}

type requestKey struct {
	user int64
	id   string
}

// A freed key is on its way to be given up. gone, unless nil, is closed when it
// is: its owner waits for that.
type freed struct {
	name string
	gone chan struct{}
}

// A claim on its way.
type claim struct {
	requestKey
	place
	done    chan struct{} // closed when the rest is set
	granted bool
	order   *Order
	err     error
}

// NewClaims keeps claims in one session of db, which must allow one connection
// only; nil: within this process. Orders are looked up in store. No claim may
// last longer than longest: between two statements the session is idle.
func NewClaims(store *Store, db *sql.DB, longest time.Duration) *Claims {
	return &Claims{store: store, db: db, idle: max(vanished, longest+vanished/2), mine: map[requestKey]bool{}, wake: make(chan struct{}, 1)}
}

// Take claims a request. order is the one that the request has already; release
// is never nil and must be called. ErrInProgress: another copy is being worked
// on, and there is no order yet. Other errors are a strategy's, and mean that
// nothing was done.
func (c *Claims) Take(ctx context.Context, user int64, requestID string) (order *Order, release func(), err error) {
	k := requestKey{user, requestID}
	c.mu.Lock()
	if _, taken := c.mine[k]; taken {
		c.mu.Unlock()
		return nil, func() {}, ErrInProgress
	}
	c.mine[k] = false
	if c.db == nil {
		c.mu.Unlock()
		order, err = c.look(ctx, k)
		return order, func() { c.forget(k) }, err
	}
	c.mu.Unlock()
	var ask *claim
	err = tap.Do(ctx, tap.SQL, command("CLAIM", k), func(ctx context.Context) error {
		ask = c.ask(k)
		select {
		case <-ask.done:
			return ask.err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	switch {
	case ask == nil: // it was never asked
		c.forget(k)
		return nil, func() {}, fmt.Errorf("%w: claim the key: %w", seckill.ErrUnavailable, err)
	case ctx.Err() != nil:
		if !c.withdraw(ask) {
			go func() { // the claim must not outlive its buyer
				<-ask.done
				c.release(ask, nil)
			}()
		}
		return nil, func() {}, fmt.Errorf("%w: waited for the key: %w", seckill.ErrBusy, ctx.Err())
	case err != nil && ask.err == nil:
		err = fmt.Errorf("%w: claim the key: %w", seckill.ErrUnavailable, err)
	case err == nil && !ask.granted && ask.order == nil:
		err = ErrInProgress
	}
	if err != nil {
		c.release(ask, nil)
		return nil, func() {}, err
	}
	return ask.order, sync.OnceFunc(func() { c.giveUp(ctx, ask) }), nil
}

// command is what a claim looks like to a tap.
func command(verb string, k requestKey) func() *tap.Command {
	return func() *tap.Command {
		return &tap.Command{Name: verb, Text: fmt.Sprintf("%s key %s of user %d", verb, k.id, k.user)}
	}
}

// giveUp releases a claim. With a tap it waits until the server has heard of it,
// so that what the tap sees is in order.
func (c *Claims) giveUp(ctx context.Context, a *claim) {
	if tap.From(ctx) == nil {
		c.release(a, nil)
		return
	}
	gone := make(chan struct{})
	sent := false
	_ = tap.Do(context.WithoutCancel(ctx), tap.SQL, command("GIVE UP", a.requestKey), func(context.Context) error {
		sent = true
		if c.release(a, gone) {
			<-gone
		}
		return nil
	})
	if !sent { // the process has died: its session goes
		c.release(a, nil)
	}
}

// ask puts a claim into the queue.
func (c *Claims) ask(k requestKey) *claim {
	a := &claim{requestKey: k, done: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asking.join(a)
	c.start()
	return a
}

// withdraw takes a claim back that was not sent; false: it was.
func (c *Claims) withdraw(a *claim) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asking.leave(a) {
		return false
	}
	delete(c.mine, a.requestKey)
	return true
}

func (c *Claims) look(ctx context.Context, k requestKey) (*Order, error) {
	o, err := c.store.Requested(ctx, k.user, k.id)
	if errors.Is(err, seckill.ErrUnknownOrder) {
		return nil, nil
	}
	return &o, err
}

func (c *Claims) forget(k requestKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.mine, k)
}

// release reports whether there was a claim to give up; gone is closed when it
// has been.
func (c *Claims) release(a *claim, gone chan struct{}) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.mine, a.requestKey)
	if a.granted {
		c.freed = append(c.freed, freed{c.name(a.requestKey), gone})
		c.start()
	}
	return a.granted
}

// start ensures that a worker drains the queue. c.mu is held.
func (c *Claims) start() {
	if !c.working {
		c.working = true
		go c.work()
		return
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// work sends what waits, and ends when nothing does.
func (c *Claims) work() {
	for rested, gathered := false, false; ; {
		c.mu.Lock()
		enough := len(c.mine) / crowd
		switch n := c.asking.len(); {
		case n == 0 && len(c.freed) == 0:
			c.working = false
			c.mu.Unlock()
			return
		case n == 0 && !rested && c.freed[0].gone == nil:
			c.mu.Unlock()
			rested = !c.await(1, lull)
			continue
		case n > 0 && n < enough && !gathered:
			c.mu.Unlock()
			c.await(enough, gather)
			gathered = true
			continue
		}
		asking, freed := c.asking.first(mostClaims), first(&c.freed, mostClaims)
		c.mu.Unlock()
		rested, gathered = false, false

		ctx, cancel := context.WithTimeout(context.Background(), claimTimeout)
		err := c.send(ctx, asking, freed)
		if err != nil {
			c.drop(ctx)
		}
		cancel()
		for _, f := range freed {
			if f.gone != nil {
				close(f.gone)
			}
		}
		c.mu.Lock()
		for _, a := range asking {
			if a.err = before(err); err != nil {
				a.granted = false
			} else if _, still := c.mine[a.requestKey]; a.granted && still {
				c.mine[a.requestKey] = true
			}
			close(a.done)
		}
		c.mu.Unlock()
	}
}

// first takes the first n out of a queue.
func first[T any](queue *[]T, n int) []T {
	n = min(n, len(*queue))
	head := (*queue)[:n:n]
	*queue = (*queue)[n:]
	return head
}

// await waits until n claims are in the queue, and reports whether they are.
func (c *Claims) await(n int, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return false
		case <-c.wake:
			c.mu.Lock()
			came := c.asking.len()
			c.mu.Unlock()
			if came >= n {
				return true
			}
		}
	}
}
