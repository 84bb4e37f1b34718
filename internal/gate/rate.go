package gate

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// mostBuckets bounds the memory of each limit. Half as many keys that were seen
// last have their bucket for certain; others may begin anew, with a full one.
const mostBuckets = 65_536

// rates limit how often a user, and how often the buyers of a SKU, may try. Each
// has a bucket that holds a second's worth of tries.
type rates struct {
	stays
	mu          sync.Mutex
	users, skus *buckets[int64]
}

func newRates(perUser, perSKU float64) *rates {
	return &rates{users: newBuckets[int64](perUser), skus: newBuckets[int64](perSKU)}
}

func (g *rates) Enter(r Request) (func(error), *Refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	user, after := g.users.take(r.User, now)
	if after > 0 {
		return nil, limited(after, "This user asks too often. Nothing was taken: try again after Retry-After seconds.")
	}
	if _, after := g.skus.take(r.SKU, now); after > 0 {
		if user != nil {
			user.CancelAt(now)
		}
		return nil, limited(after, "Too many buyers ask for this SKU. Nothing was taken: try again after Retry-After seconds.")
	}
	return nil, nil
}

// Clients limits how often each client asks for anything.
type Clients struct {
	mu  sync.Mutex
	all *buckets[netip.Prefix]
}

// NewClients allows each client so many requests a second, with a second's worth at
// once.
func NewClients(perSecond float64) *Clients {
	return &Clients{all: newBuckets[netip.Prefix](perSecond)}
}

// Enter refuses a client who asks too often.
func (g *Clients) Enter(client netip.Prefix) *Refusal {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, after := g.all.take(client, time.Now()); after > 0 {
		return limited(after, "Too many requests come from this address. Nothing was taken: try again after Retry-After seconds.")
	}
	return nil
}

func limited(after time.Duration, detail string) *Refusal {
	return &Refusal{Gate: "rate", Err: ErrRateLimited, RetryAfter: after, Detail: detail}
}

// buckets are one limiter for each key. They are kept in two generations: when
// the young one is full, the old one is forgotten.
type buckets[K comparable] struct {
	rate       rate.Limit
	burst      int
	young, old map[K]*rate.Limiter
}

func newBuckets[K comparable](perSecond float64) *buckets[K] {
	return &buckets[K]{rate: rate.Limit(perSecond), burst: max(1, int(perSecond)), young: map[K]*rate.Limiter{}}
}

// take takes one try from a bucket, or says after what time there is one. It can
// be given back.
func (b *buckets[K]) take(key K, now time.Time) (*rate.Reservation, time.Duration) {
	if b.rate == 0 {
		return nil, 0
	}
	r := b.of(key).ReserveN(now, 1)
	after := r.DelayFrom(now)
	if after > 0 {
		r.CancelAt(now)
	}
	return r, after
}

func (b *buckets[K]) of(key K) *rate.Limiter {
	if l := b.young[key]; l != nil {
		return l
	}
	l := b.old[key]
	if l == nil {
		l = rate.NewLimiter(b.rate, b.burst)
	}
	if len(b.young) == mostBuckets/2 {
		b.young, b.old = map[K]*rate.Limiter{}, b.young
	}
	b.young[key] = l
	return l
}
