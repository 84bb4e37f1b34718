package hotsku

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A desk is where the buyers of one SKU wait in this process. One of them
// leads: they write for all until their own order is written, and then pass the
// lead on. A leader who finds nothing to write, as another process has their
// entry, dozes, and who comes meanwhile leads.
type desk struct {
	mu      sync.Mutex
	led     bool
	waiting []*ticket // the leader's, too
	epoch   int64     // the row has seen this one

	users int // guarded by desks.mu
}

// A ticket is what a buyer waits with.
type ticket struct {
	seckill.Purchase
	who    string // the request, or cancellation; "": any progress will do
	run    int64
	rounds int // that it has waited through
	dozes  bool
	news   chan reply
}

type reply struct {
	lead    bool // no answer yet: it is your turn to lead
	receipt seckill.Receipt
	err     error
}

// desks are those at which someone waits.
type desks struct {
	mu   sync.Mutex
	by   map[int64]*desk
	used map[int64]bool // SKUs that the worker has to look at
}

func (d *desks) enter(sku int64) *desk {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.by == nil {
		d.by = map[int64]*desk{}
	}
	if d.by[sku] == nil {
		d.by[sku] = &desk{}
	}
	d.by[sku].users++
	return d.by[sku]
}

func (d *desks) leave(sku int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.by[sku].users--; d.by[sku].users == 0 {
		delete(d.by, sku)
	}
}

// await returns the answer to a ticket. That there is none in time is unknown.
func (s *stream) await(ctx context.Context, t *ticket, end time.Time) reply {
	d := s.desks.enter(t.SKU)
	defer s.desks.leave(t.SKU)
	t.news = make(chan reply, 1)
	for lead := d.join(t); ; lead = d.wake(t) {
		if !lead {
			a, err := tap.WaitAtMost(ctx, "the writer of "+streamKey(t.SKU),
				max(0, time.Until(end)), t.news, nil)
			if err != nil {
				return d.leave(t, err)
			}
			if !a.lead {
				return a
			}
		}
		if a, done := s.lead(ctx, d, t, end); done {
			d.pass(t)
			return a
		}
		d.doze(t)
		err := tap.Sleep(ctx, s.deps.Settings.LockPoll)
		if err != nil || t.who == "" {
			return d.leave(t, err)
		}
	}
}

func notWritten(err error) error {
	return fmt.Errorf("%w: accepted, and not written yet: %w",
		seckill.ErrUnknown, err)
}

// join reports whether t has to lead.
func (d *desk) join(t *ticket) (lead bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, t)
	lead = !d.led
	d.led = true
	return lead
}

// leave takes back a ticket whose buyer waits no longer. The reply, or the
// lead, may have come at the last moment. Waiters for progress ask again.
func (d *desk) leave(t *ticket, why error) reply {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(t)
	select {
	case a := <-t.news:
		if !a.lead {
			return a
		}
		d.led = false
	default:
	}
	d.appoint(func(*ticket) bool { return true })
	if why == nil {
		return reply{}
	}
	return reply{err: notWritten(why)}
}

// pass gives the lead of t to who has waited longest.
func (d *desk) pass(t *ticket) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(t)
	d.led = false
	d.appoint(func(*ticket) bool { return true })
}

// doze lets a ticket that came since the last round lead, if there is one.
func (d *desk) doze(t *ticket) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t.dozes, d.led = true, false
	d.appoint(func(o *ticket) bool { return o.rounds == 0 })
}

// wake reports whether t leads again.
func (d *desk) wake(t *ticket) (lead bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t.dozes = false
	if lead = !d.led && len(t.news) == 0; lead {
		d.led = true
	}
	return lead
}

// appoint makes the first who is awake, and fits, the leader if there is none.
func (d *desk) appoint(fits func(*ticket) bool) {
	i := slices.IndexFunc(d.waiting,
		func(t *ticket) bool { return !t.dozes && fits(t) })
	if !d.led && i >= 0 {
		d.led = true
		d.waiting[i].news <- reply{lead: true}
	}
}

func (d *desk) remove(t *ticket) {
	d.waiting = slices.DeleteFunc(d.waiting,
		func(o *ticket) bool { return o == t })
}

// mostAsked bounds how many requests one look asks for.
const mostAsked = 512

// asked are the tickets whose entries other processes may have written: they
// were here before the last round.
func (d *desk) asked() (list []*ticket) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.waiting {
		if t.who != "" && t.rounds > 0 && len(list) < mostAsked {
			list = append(list, t)
		}
		t.rounds++
	}
	return list
}

// before are the tickets of earlier sales.
func (d *desk) before(run int64) (list []*ticket) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.waiting {
		if t.run < run {
			list = append(list, t)
		}
	}
	return list
}

// tell gives tickets their answers, if they still wait.
func (d *desk) tell(answers map[*ticket]reply) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = slices.DeleteFunc(d.waiting, func(t *ticket) bool {
		a, ok := answers[t]
		if ok {
			t.news <- a
		}
		return ok
	})
}

// tellOf answers what the database has decided, and lets those look again who
// wait for any progress.
func (d *desk) tellOf(run int64, verdicts []verdict) {
	by := map[string]reply{"": {}}
	for _, v := range verdicts {
		by[v.who()] = v.reply
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = slices.DeleteFunc(d.waiting, func(t *ticket) bool {
		a, ok := by[t.who]
		if ok = ok && t.run == run; ok {
			t.news <- a
		}
		return ok
	})
}
