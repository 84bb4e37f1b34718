package hotsku

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// waiters are the buyers of one SKU who wait in this process. One of them
// leads: they write for all until their own order is written, and then pass the
// lead on. A leader who finds nothing to write, as another process has their
// entry, dozes, and who comes meanwhile leads.
type waiters struct {
	mu      sync.Mutex
	led     bool
	waiting []*waiter // the leader's, too
	epoch   int64     // the row has seen this one

	users int // guarded by waitersBySKU.mu
}

// A waiter is a buyer who waits for an answer.
type waiter struct {
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

// waitersBySKU are those of which there are some.
type waitersBySKU struct {
	mu   sync.Mutex
	by   map[int64]*waiters
	used map[int64]bool // SKUs that the worker has to look at
}

func (ws *waitersBySKU) enter(sku int64) *waiters {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.by == nil {
		ws.by = map[int64]*waiters{}
	}
	if ws.by[sku] == nil {
		ws.by[sku] = &waiters{}
	}
	ws.by[sku].users++
	return ws.by[sku]
}

func (ws *waitersBySKU) leave(sku int64) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.by[sku].users--; ws.by[sku].users == 0 {
		delete(ws.by, sku)
	}
}

// await returns the answer to w. That there is none in time is unknown.
func (s *redisStream) await(ctx context.Context, w *waiter, end time.Time) reply {
	ws := s.waiting.enter(w.SKU)
	defer s.waiting.leave(w.SKU)
	w.news = make(chan reply, 1)
	for lead := ws.join(w); ; lead = ws.wake(w) {
		if !lead {
			a, err := tap.WaitAtMost(ctx, "the writer of "+streamKey(w.SKU),
				max(0, time.Until(end)), w.news, nil)
			if err != nil {
				return ws.leave(w, err)
			}
			if !a.lead {
				return a
			}
		}
		if a, done := s.lead(ctx, ws, w, end); done {
			ws.pass(w)
			return a
		}
		ws.doze(w)
		err := tap.Sleep(ctx, s.deps.Settings.LockPoll)
		if err != nil || w.who == "" {
			return ws.leave(w, err)
		}
	}
}

// lead writes for all of ws, until w has its answer. It is not done
// when there is nothing to write: another process has the entry.
func (s *redisStream) lead(
	ctx context.Context, ws *waiters, w *waiter, end time.Time,
) (a reply, done bool) {
	for failed := 0; ; {
		moved, err := s.round(ctx, ws, w.SKU)
		select {
		case a := <-w.news:
			return a, true
		default:
		}
		switch {
		case err != nil && failed == 0 && ctx.Err() == nil:
			failed++ // a lost reply is looked up at once
		case err != nil:
			return reply{err: notWritten(err)}, true
		case time.Now().After(end):
			return reply{err: notWritten(errors.New("time is up"))}, true
		case !moved:
			return a, false
		case w.who == "":
			return a, true // they ask Redis again
		}
	}
}

func notWritten(err error) error {
	return fmt.Errorf("%w: accepted, and not written yet: %w",
		seckill.ErrUnknown, err)
}

// join reports whether w has to lead.
func (ws *waiters) join(w *waiter) (lead bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.waiting = append(ws.waiting, w)
	lead = !ws.led
	ws.led = true
	return lead
}

// leave removes a buyer who waits no longer. The reply, or the
// lead, may have come at the last moment. Waiters for progress ask again.
func (ws *waiters) leave(w *waiter, why error) reply {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.remove(w)
	select {
	case a := <-w.news:
		if !a.lead {
			return a
		}
		ws.led = false
	default:
	}
	ws.appoint(func(*waiter) bool { return true })
	if why == nil {
		return reply{}
	}
	return reply{err: notWritten(why)}
}

// pass gives the lead of w to who has waited longest.
func (ws *waiters) pass(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.remove(w)
	ws.led = false
	ws.appoint(func(*waiter) bool { return true })
}

// doze lets a waiter that came since the last round lead, if there is one.
func (ws *waiters) doze(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w.dozes, ws.led = true, false
	ws.appoint(func(o *waiter) bool { return o.rounds == 0 })
}

// wake reports whether w leads again.
func (ws *waiters) wake(w *waiter) (lead bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w.dozes = false
	if lead = !ws.led && len(w.news) == 0; lead {
		ws.led = true
	}
	return lead
}

// appoint makes the first who is awake, and fits, the leader if there is none.
func (ws *waiters) appoint(fits func(*waiter) bool) {
	i := slices.IndexFunc(ws.waiting,
		func(w *waiter) bool { return !w.dozes && fits(w) })
	if !ws.led && i >= 0 {
		ws.led = true
		ws.waiting[i].news <- reply{lead: true}
	}
}

func (ws *waiters) remove(w *waiter) {
	ws.waiting = slices.DeleteFunc(ws.waiting,
		func(o *waiter) bool { return o == w })
}

// mostAsked bounds how many requests one look asks for.
const mostAsked = 512

// asked are the waiters whose entries other processes may have written: they
// were here before the last round.
func (ws *waiters) asked() (list []*waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.waiting {
		if w.who != "" && w.rounds > 0 && len(list) < mostAsked {
			list = append(list, w)
		}
		w.rounds++
	}
	return list
}

// before are the waiters of earlier sales.
func (ws *waiters) before(run int64) (list []*waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.waiting {
		if w.run < run {
			list = append(list, w)
		}
	}
	return list
}

// tell gives waiters their answers, if they still wait.
func (ws *waiters) tell(answers map[*waiter]reply) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.waiting = slices.DeleteFunc(ws.waiting, func(w *waiter) bool {
		a, ok := answers[w]
		if ok {
			w.news <- a
		}
		return ok
	})
}

// tellOf answers what the database has decided, and lets those look again who
// wait for any progress.
func (ws *waiters) tellOf(run int64, decisions []decision) {
	by := map[string]reply{"": {}}
	for _, v := range decisions {
		by[v.who()] = v.reply
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.waiting = slices.DeleteFunc(ws.waiting, func(w *waiter) bool {
		a, ok := by[w.who]
		if ok = ok && w.run == run; ok {
			w.news <- a
		}
		return ok
	})
}

// leadIdle takes the lead if no buyer has it.
func (ws *waiters) leadIdle() bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	idle := !ws.led
	ws.led = true
	return idle
}
