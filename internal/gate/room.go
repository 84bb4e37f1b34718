package gate

import (
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// turnLasts is how long a buyer may take to come back when their turn is
	// there; then the ticket is void.
	turnLasts = 10 * time.Second
	// mostTickets and mostRooms bound the memory.
	mostTickets = 100_000
	mostRooms   = 4096
)

// rooms are the waiting rooms of SKUs. A buyer who comes gets a ticket: a turn,
// one behind the other, so many a second. Before it they are told their position
// and when to come back; from then on, for turnLasts, they are let in, once. In
// w seconds no more than rate × (w + 1) buyers are let in.
//
// A ticket is a user's for one SKU, and known to the process that gave it.
type rooms struct {
	stays
	rate  rate.Limit
	burst int // a second's worth

	mu      sync.Mutex
	bySKU   map[int64]*room
	tickets int // of all rooms
}

type room struct {
	turns *rate.Limiter // hands out turns
	door  *rate.Limiter // those whose turn has come may all come at once
	turn  map[int64]time.Time
	line  []ticket // in the order of their turns
}

type ticket struct {
	user int64
	turn time.Time
}

func newRooms(perSecond float64) *rooms {
	return &rooms{rate: rate.Limit(perSecond), burst: max(1, int(perSecond)), bySKU: map[int64]*room{}}
}

func (g *rooms) Enter(r Request) (func(error), *Refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	in := g.room(r.SKU, now)
	if in == nil {
		return nil, busy("waiting-room", turnLasts, 0, "Too many products are waited for. Nothing was taken: try again after Retry-After seconds.")
	}
	g.tickets -= in.expire(now)
	turn, has := in.turn[r.User]
	switch {
	case has:
	case g.tickets == mostTickets:
		return nil, busy("waiting-room", turnLasts, 0, "The waiting room is full. Nothing was taken: try again after Retry-After seconds.")
	default:
		turn = now.Add(in.turns.ReserveN(now, 1).DelayFrom(now))
	}
	wait := turn.Sub(now)
	if wait <= 0 && in.door.AllowN(now, 1) {
		delete(in.turn, r.User)
		return nil, nil
	}
	if !has {
		in.give(r.User, turn)
		g.tickets++
	}
	if wait <= 0 {
		return nil, inLine(time.Second, 1)
	}
	return nil, inLine(wait, max(1, int64(math.Ceil(wait.Seconds()*float64(g.rate)))))
}

func inLine(after time.Duration, position int64) *Refusal {
	return busy("waiting-room", after, position, fmt.Sprintf("You are number %d in line. Nothing was taken: come back after Retry-After seconds; "+
		"your turn is kept for %.0f seconds.", position, turnLasts.Seconds()))
}

func (g *rooms) waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tickets
}

func (in *room) give(user int64, turn time.Time) {
	in.turn[user] = turn
	in.line = append(in.line, ticket{user, turn})
}

// expire drops the first tickets that were used or whose time is over, and
// returns how many there were.
func (in *room) expire(now time.Time) (n int) {
	for ; n < len(in.line); n++ {
		t := in.line[n]
		used := !in.turn[t.user].Equal(t.turn) // or the user has a later one
		if !used && now.Sub(t.turn) <= turnLasts {
			break
		}
		if !used {
			delete(in.turn, t.user)
		}
	}
	in.line = in.line[n:]
	return n
}

// room is the SKU's; nil when there are too many that are in use.
func (g *rooms) room(sku int64, now time.Time) *room {
	if in := g.bySKU[sku]; in != nil {
		return in
	}
	if len(g.bySKU) == mostRooms && !g.sweep(now) {
		return nil
	}
	in := &room{turns: rate.NewLimiter(g.rate, g.burst), door: rate.NewLimiter(g.rate, g.burst), turn: map[int64]time.Time{}}
	g.bySKU[sku] = in
	return in
}

// sweep removes the rooms that are as good as new.
func (g *rooms) sweep(now time.Time) (any bool) {
	for sku, in := range g.bySKU {
		g.tickets -= in.expire(now)
		if len(in.line) == 0 && in.turns.TokensAt(now) >= float64(g.burst) && in.door.TokensAt(now) >= float64(g.burst) {
			delete(g.bySKU, sku)
			any = true
		}
	}
	return any
}
