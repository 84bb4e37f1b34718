package ledger

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// ErrInProgress: another copy of the same request is being worked on.
var ErrInProgress = errors.New("another copy of this request is in progress")

// Claims let one copy of a request at a time buy, in any process on the
// database. A request is a user and an idempotency key.
//
// A claim is two named locks of the database server (GET_LOCK), which one
// session of the process takes together and releases together: the key's, whose
// name every copy computes, and the fence, whose name no other claim ever has.
// While a claim is held:
//
//  1. No other copy is past Take, because the key's lock is taken.
//  2. No order of an earlier copy can still appear. The statement that writes an
//     order asks the server whether the claim's fence is held (Store.insert), and
//     a fence ends before its key's lock does: an order of another copy was
//     written before this claim was granted, or never will be. It makes no
//     difference whether that copy's process died, stands still, gave up waiting
//     for an answer, or lost its session.
//  3. An order that was written before is known. The statement that grants the
//     claim looks for it, and sees what is not committed yet; where it sees
//     something, Take waits until that is committed or rolled back.
//
// So a copy that is refused may be told so if Release says that its claim was
// held until then: no copy of its request has the order or is about to get it. A
// copy whose claim was lost meanwhile is told that it is in progress.
//
// A server asks for the fence a moment before it writes the row. Claims do not
// cover a session that breaks in that moment if another copy also claims the key
// and looks for the order within it.
//
// Claims share statements (gather), and the session is whichever connection the pool
// has: when one has ended, its locks have, too, and the pool opens another. On SQLite,
// which has one process and no named locks, claims are kept in memory only.
type Claims struct {
	store *Store
	db    *sql.DB       // of one connection, which reads what is not committed; nil: SQLite
	scope string        // the database: named locks belong to the whole server
	limit time.Duration // of one statement

	mu      sync.Mutex
	here    map[requestKey]bool // claimed by this process, or asked for
	queue   []*trip
	working bool
	joined  chan struct{} // has something when the queue has grown
}

type requestKey struct {
	user int64
	id   string
}

// A Claim is a request that this process works on.
type Claim struct {
	requestKey
	Order *Order // what the request got before, or nil
	Fence string // of the Purchase; empty: no order needs one

	of  *Claims
	key string // the name of its lock
}

// A trip takes a claim to the server, or releases it there.
type trip struct {
	*Claim
	release bool
	done    chan struct{} // closed when the rest is set
	ok      bool          // the claim is granted; of a release: it was held until now
	written bool          // the request has an order, of any run, committed or not
	err     error
}

const (
	maxTrips  = 256 // in one statement
	maxGather = 10 * time.Millisecond
)

// NewClaims keeps claims in db, which is an Instance's KeyDB, of a database; nil: in
// memory. No purchase may take longer than limit.
func NewClaims(store *Store, db *sql.DB, database string, limit time.Duration) *Claims {
	return &Claims{store: store, db: db, scope: database, limit: limit, here: map[requestKey]bool{}, joined: make(chan struct{}, 1)}
}

// Take claims a request. Release the claim. ErrInProgress: another copy is being
// worked on. Other errors are a strategy's, and mean that nothing was done.
func (c *Claims) Take(ctx context.Context, user int64, requestID string) (*Claim, error) {
	claim := &Claim{requestKey: requestKey{user, requestID}, of: c, key: KeyLock(c.scope, user, requestID)}
	c.mu.Lock()
	taken := c.here[claim.requestKey]
	c.here[claim.requestKey] = true
	c.mu.Unlock()
	if taken {
		return nil, ErrInProgress
	}
	if c.db != nil {
		claim.Fence = "seckill:claim:" + rand.Text()
		t, err := claim.send(ctx, "CLAIM", false)
		switch {
		case err != nil && ctx.Err() != nil: // the caller has left
			go claim.Release(context.Background())
		case err != nil:
			claim.Release(ctx)
		case !t.ok:
			claim.forget()
			err = ErrInProgress
		}
		if err != nil {
			return nil, err
		}
		if !t.written {
			return claim, nil
		}
	}
	switch o, err := c.store.Requested(ctx, 0, user, requestID); {
	case err == nil:
		claim.Order = &o
	case errors.Is(err, seckill.ErrUnknownOrder): // rolled back, or of an earlier run
	default:
		claim.Release(ctx)
		if errors.Is(err, seckill.ErrBusy) || errors.Is(err, seckill.ErrConflict) { // a wait or a deadlock with the order's transaction
			err = ErrInProgress
		}
		return nil, err
	}
	return claim, nil
}

// Release ends a claim and reports whether it was held until then.
func (c *Claim) Release(ctx context.Context) (held bool) {
	defer c.forget() // afterwards: a session may take a lock twice
	if c.of.db == nil {
		return true
	}
	t, err := c.send(context.WithoutCancel(ctx), "GIVE UP", true)
	if t == nil { // a tap has stopped it
		<-c.join(true).done
	}
	return err == nil && t.ok
}

func (c *Claim) forget() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	delete(c.of.here, c.requestKey)
}

// send makes a trip, which is one command. The trip is nil if it did not begin.
func (c *Claim) send(ctx context.Context, verb string, release bool) (t *trip, err error) {
	err = tap.Do(ctx, tap.SQL, func() *tap.Command {
		return &tap.Command{Name: verb, Text: fmt.Sprintf("%s key %s of user %d", verb, c.id, c.user)}
	}, func(ctx context.Context) error {
		t = c.join(release)
		select {
		case <-t.done:
			return t.err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	if err != nil {
		err = fmt.Errorf("%w: the idempotency key: %w", seckill.ErrUnavailable, err)
	}
	return t, err
}

// join puts a trip into the queue, and ensures that a goroutine empties it.
func (c *Claim) join(release bool) *trip {
	t := &trip{Claim: c, release: release, done: make(chan struct{})}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.queue = append(c.of.queue, t)
	select {
	case c.of.joined <- struct{}{}:
	default:
	}
	if !c.of.working {
		c.of.working = true
		go c.of.work()
	}
	return t
}

// work sends what waits, and ends when nothing does.
func (c *Claims) work() {
	for {
		c.gather()
		c.mu.Lock()
		batch := c.queue[:min(len(c.queue), maxTrips)]
		c.queue = c.queue[len(batch):]
		c.working = len(batch) > 0
		c.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), c.limit)
		err := c.exchange(ctx, batch)
		cancel()
		if err != nil { // those who wait would wait as long
			c.mu.Lock()
			batch, c.queue = append(batch, c.queue...), nil
			c.mu.Unlock()
		}
		for _, t := range batch {
			t.ok, t.err = t.ok && err == nil, err
			close(t.done)
		}
	}
}

// gather waits until the next statement has enough to carry: a third of the requests
// that this process works on, so that a buyer who is alone does not wait, or as many
// as fit. A statement costs the server more than the claims in it.
func (c *Claims) gather() {
	late := time.After(maxGather)
	for {
		c.mu.Lock()
		enough := len(c.queue) >= min(len(c.here)/3, maxTrips) || len(c.queue) == 0
		c.mu.Unlock()
		if enough {
			return
		}
		select {
		case <-c.joined:
		case <-late:
			return
		}
	}
}

// exchange makes trips in one statement. A session that did not answer is closed:
// it may hold any of its locks.
func (c *Claims) exchange(ctx context.Context, batch []*trip) (err error) {
	session, err := c.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = session.Raw(func(any) error { return driver.ErrBadConn })
		}
		_ = session.Close() // back to the pool, if it is good
	}()
	query, args := statement(batch)
	rows, err := session.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	written, answers := map[requestKey]bool{}, ""
	for rows.Next() {
		var id sql.NullString
		var user sql.NullInt64
		if err := rows.Scan(&answers, &id, &user); err != nil {
			return err
		}
		written[requestKey{user.Int64, id.String}] = true
	}
	if len(answers) != len(batch) {
		return errors.Join(fmt.Errorf("%d answers to %d claims", len(answers), len(batch)), rows.Err())
	}
	for i, t := range batch {
		t.ok, t.written = answers[i] == '1', written[t.requestKey]
	}
	return rows.Err()
}

// statement makes the trips of a batch. Its first column has a character for
// each: 1, ok. The others name requests that have an order.
//
// The locks are taken while the inner table is made, before any order is looked
// up; LIMIT keeps the server from merging that table into the rest. The index is
// forced: early in a sale, statistics still say that a scan is cheaper.
func statement(batch []*trip) (query string, args []any) {
	locks := make([]byte, 0, 160*len(batch))
	for _, t := range batch {
		if t.release {
			locks = fmt.Appendf(locks, ", IF(RELEASE_LOCK('%s'), COALESCE(RELEASE_LOCK('%s'), 0), 0)", t.Fence, t.key)
			continue
		}
		locks = fmt.Appendf(locks, ", IF(GET_LOCK('%s', 0), GET_LOCK('%s', 0), 0)", t.key, t.Fence)
		args = append(args, t.id, t.user)
	}
	got := "SELECT CONCAT(''" + string(locks) + ") AS got"
	if len(args) == 0 { // an outer join ON FALSE would read all orders
		return "SELECT k.got, NULL, NULL FROM (" + got + ") k", nil
	}
	return "SELECT k.got, o.request_id, o.user_id FROM (" + got + " LIMIT 1) k " +
		"LEFT JOIN orders o FORCE INDEX (orders_request_in_run) " +
		"ON (o.request_id, o.user_id) IN ((?, ?)" + strings.Repeat(", (?, ?)", len(args)/2-1) + ")", args
}

// KeyLock names the lock of a request's key in a database.
func KeyLock(database string, user int64, requestID string) string {
	sum := sha256.Sum256(strconv.AppendInt([]byte(strings.ToLower(database)+"\x00"+requestID+"\x00"), user, 10))
	return fmt.Sprintf("seckill:key:%x", sum[:16]) // MySQL allows 64 characters
}
