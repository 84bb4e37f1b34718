package loadtest

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"time"
)

// A plan is every request of one run. Which user asks for what in request i
// follows from the seed and i alone, so a plan needs no memory and does not
// depend on the workers.
type plan struct {
	Scenario
	requests int
	runs     []int64   // of each SKU
	sku      []float64 // cumulated shares
}

func newPlan(s Scenario, runs []int64) *plan {
	p := &plan{Scenario: s, requests: s.Requests(), runs: runs}
	if s.SKUs > 1 {
		sum := 0.0
		for k := range s.SKUs {
			sum += math.Pow(float64(k+1), -s.Zipf)
			p.sku = append(p.sku, sum)
		}
	}
	return p
}

// Each kind of draw has a random stream of its own.
const (
	drawSKU = iota + 1
	drawDuplicate
	drawOriginal
	drawCancel
	drawCopies
	drawPay
	drawReturn
	drawCut
	drawCutAfter
	drawPause // and above it, by the number of the call
)

// draw is a number that follows from the seed, i, and what it is for:
// SplitMix64 (Steele, Lea and Flood, 2014).
func (p *plan) drawNumber(i int, what uint64) uint64 {
	z := p.Seed + uint64(i)*0x9e3779b97f4a7c15 + what*0xd1342543de82ef95
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// share is a draw from 0 up to 1.
func (p *plan) drawShare(i int, what uint64) float64 {
	return float64(p.drawNumber(i, what)>>11) / (1 << 53)
}

// recent is how many requests back a duplicate's original may be: close enough
// that its buyer may still wait for the first answer.
const maxDuplicateDistance = 16

// original is the request whose user asks again in request i; i itself for a new
// user.
func (p *plan) originalOf(i int) int {
	for p.Duplicates > 0 && i > 0 && p.drawShare(i, drawDuplicate) < p.Duplicates {
		i -= 1 + int(p.drawNumber(i, drawOriginal)%uint64(min(i, maxDuplicateDistance)))
	}
	return i
}

// A purchase is one request of a plan.
type purchase struct {
	index         int
	sku, quantity int64
	user          int64
	key           string        // idempotency key: see plan.key
	turn          int           // of the target to ask, counted from the request's first
	copied        bool          // it is sent several times at once
	cancels       bool          // the buyer cancels a sale
	forgets       bool          // … never pays what they have reserved
	returns       bool          // … and cancels it when it has expired
	asOrder       bool          // the cancellation names the order, not the reservation
	patience      time.Duration // after which the buyer hangs up; 0: the time-out
}

// maxPatience is the longest that a buyer waits who hangs up: most purchases take about so long.
const maxPatience = 20 * time.Millisecond

func (p *plan) purchaseOf(i int) purchase {
	o := p.originalOf(i)
	sku := p.SKU + int64(p.skuIndexOf(o))
	asked := purchase{index: i, user: p.userOf(o), sku: sku, quantity: p.Quantity, key: p.keyOf(i, sku),
		copied:  p.Copies > 0 && p.drawShare(i, drawCopies) < p.Copies,
		cancels: p.Cancellations > 0 && p.drawShare(i, drawCancel) < p.Cancellations}
	asked.forgets = p.Reserve > 0 && !asked.cancels && p.drawShare(i, drawPay) < p.Forget
	asked.returns = asked.forgets && p.drawShare(i, drawReturn) < 0.5
	if p.Cuts > 0 && p.drawShare(i, drawCut) < p.Cuts {
		asked.patience = 1 + time.Duration(p.drawShare(i, drawCutAfter)*float64(maxPatience))
	}
	return asked
}

// skuIndex is which of the SKUs the user of request o wants, from 0.
func (p *plan) skuIndexOf(o int) int {
	if p.SKUs < 2 {
		return 0
	}
	last := len(p.sku) - 1
	share := p.drawShare(o, drawSKU) * p.sku[last]
	return min(last, sort.SearchFloat64s(p.sku, math.Nextafter(share, math.Inf(1))))
}

const (
	userBits   = 31
	userFactor = 0x9e3779b97f4a7c15
)

// user spreads the buyers over 2³¹ ids. An odd factor makes i ↦ i·factor a
// permutation of them, so no two buyers are the same user.
func (p *plan) userOf(i int) int64 {
	return 1 + int64((p.Seed+uint64(i)*userFactor)&(1<<userBits-1))
}

// requestOf is the request of a user who buys once.
func (p *plan) requestOf(user int64) int {
	const inverse = 0x1937733d // of userFactor, modulo 2³¹
	return int((uint64(user-1) - p.Seed) * inverse & (1<<userBits - 1))
}

// SeedAfter is the seed of a run whose buyers are others than the first n of the
// run with this seed.
func SeedAfter(seed uint64, n int) uint64 { return seed + uint64(n)*userFactor }

// key is request i's idempotency key. The run is part of it: a request
// that arrives after a later reset must not pass for one of the later run. So is
// the SKU: the same buyers may be asking for another one.
func (p *plan) keyOf(i int, sku int64) string { return p.keyPrefix(sku) + strconv.Itoa(i) }

// prefix is what all keys of a SKU begin with.
func (p *plan) keyPrefix(sku int64) string {
	return fmt.Sprintf("load-%x-%d-%d-", p.Seed, sku, p.runs[sku-p.SKU])
}

// demand is how many units are wanted of the SKU that is wanted most.
func (p *plan) maxDemand() int64 {
	wanted := make([]int64, p.SKUs)
	for i := range p.requests {
		if p.originalOf(i) == i {
			wanted[p.skuIndexOf(i)] += p.Quantity
		}
	}
	return slices.Max(wanted)
}
