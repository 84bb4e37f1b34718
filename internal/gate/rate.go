package gate

import (
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
	users, skus *buckets
}

func newRates(perUser, perSKU float64) *rates {
	return &rates{users: newBuckets(perUser), skus: newBuckets(perSKU)}
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

func limited(after time.Duration, detail string) *Refusal {
	return &Refusal{Gate: "rate", Err: ErrRateLimited, RetryAfter: after, Detail: detail}
}

// buckets are one limiter for each key. They are kept in two generations: when
// the young one is full, the old one is forgotten.
type buckets struct {
	rate       rate.Limit
	burst      int
	young, old map[int64]*rate.Limiter
}

func newBuckets(perSecond float64) *buckets {
	return &buckets{rate: rate.Limit(perSecond), burst: max(1, int(perSecond)), young: map[int64]*rate.Limiter{}}
}

// take takes one try from a bucket, or says after what time there is one. It can
// be given back.
func (b *buckets) take(key int64, now time.Time) (*rate.Reservation, time.Duration) {
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

func (b *buckets) of(key int64) *rate.Limiter {
	if l := b.young[key]; l != nil {
		return l
	}
	l := b.old[key]
	if l == nil {
		l = rate.NewLimiter(b.rate, b.burst)
	}
	if len(b.young) == mostBuckets/2 {
		b.young, b.old = map[int64]*rate.Limiter{}, b.young
	}
	b.young[key] = l
	return l
}
