package loadtest

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"time"
)

// A plan says what every request of a run asks for. The user, the SKU and the key of
// request i follow from the seed and i alone. So a plan keeps no list of requests, and
// does not depend on which worker sends them.
type plan struct {
	scenario Scenario
	requests int
	runs     []int64   // for each SKU, the run number of its sale
	sku      []float64 // for each SKU, its share of the demand plus the shares of all SKUs before
}

func newPlan(s Scenario, runs []int64) *plan {
	p := &plan{scenario: s, requests: s.Requests(), runs: runs}
	if s.SKUs > 1 {
		sum := 0.0
		for k := range s.SKUs {
			sum += math.Pow(float64(k+1), -s.Zipf)
			p.sku = append(p.sku, sum)
		}
	}
	return p
}

// The random numbers of each purpose come from a stream of their own.
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
	drawPause // a call's number is added in the higher bits, so that each call has its own stream
)

// drawNumber returns a random number for request i from the given stream. It depends on the seed, i
// and the stream only. The algorithm is SplitMix64 (Steele, Lea and Flood, 2014).
func (p *plan) drawNumber(i int, stream uint64) uint64 {
	z := p.scenario.Seed + uint64(i)*0x9e3779b97f4a7c15 + stream*0xd1342543de82ef95
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// drawShare returns a random number ≥ 0 and < 1.
func (p *plan) drawShare(i int, stream uint64) float64 {
	return float64(p.drawNumber(i, stream)>>11) / (1 << 53)
}

// maxDuplicateDistance bounds the number of requests between a duplicate and its original. It is
// small so that the first answer may still be missing when the duplicate is sent.
const maxDuplicateDistance = 16

// originalOf returns an earlier request by the same user if request i is a duplicate. Otherwise it
// returns i.
func (p *plan) originalOf(i int) int {
	for share := p.scenario.Duplicates; share > 0 && i > 0 && p.drawShare(i, drawDuplicate) < share; {
		i -= 1 + int(p.drawNumber(i, drawOriginal)%uint64(min(i, maxDuplicateDistance)))
	}
	return i
}

// A purchase is one request of a plan.
type purchase struct {
	index         int
	sku, quantity int64
	user          int64
	key           string        // the idempotency key, made by plan.keyOf
	turn          int           // number of the call within its request; each call goes to the next target
	copied        bool          // the request is sent several times at once
	cancels       bool          // the buyer cancels what they bought or reserved
	forgets       bool          // the buyer never pays what they reserved
	returns       bool          // the buyer cancels the reservation after it has expired
	asOrder       bool          // the cancellation names the order instead of the reservation
	patience      time.Duration // the buyer hangs up after this time; 0 stands for Scenario.Timeout
}

// maxPatience bounds how long a buyer who hangs up waits. Most purchases take
// about as long, so some calls are cut before their commit and some after.
const maxPatience = 20 * time.Millisecond

// purchaseOf returns the purchase that request i makes.
func (p *plan) purchaseOf(i int) purchase {
	s, original := p.scenario, p.originalOf(i)
	sku := s.SKU + int64(p.skuIndexOf(original))
	made := purchase{index: i, user: p.userOf(original), sku: sku, quantity: s.Quantity, key: p.keyOf(i, sku),
		copied:  s.Copies > 0 && p.drawShare(i, drawCopies) < s.Copies,
		cancels: s.Cancellations > 0 && p.drawShare(i, drawCancel) < s.Cancellations}
	made.forgets = s.Reserve > 0 && !made.cancels && p.drawShare(i, drawPay) < s.Forget
	made.returns = made.forgets && p.drawShare(i, drawReturn) < 0.5
	if s.Cuts > 0 && p.drawShare(i, drawCut) < s.Cuts {
		made.patience = 1 + time.Duration(p.drawShare(i, drawCutAfter)*float64(maxPatience))
	}
	return made
}

// skuIndexOf returns the index of the SKU that the user of an original request wants.
func (p *plan) skuIndexOf(original int) int {
	if p.scenario.SKUs < 2 {
		return 0
	}
	last := len(p.sku) - 1
	share := p.drawShare(original, drawSKU) * p.sku[last]
	return min(last, sort.SearchFloat64s(p.sku, math.Nextafter(share, math.Inf(1))))
}

const (
	userBits   = 31
	userFactor = 0x9e3779b97f4a7c15
)

// userOf returns the user of an original request. It spreads the users over 2³¹ ids. An odd
// factor makes i ↦ i·factor a permutation of the ids, so no two requests share a user.
func (p *plan) userOf(original int) int64 {
	return 1 + int64((p.scenario.Seed+uint64(original)*userFactor)&(1<<userBits-1))
}

// requestOf is the inverse of userOf: it returns the request that this user makes.
func (p *plan) requestOf(user int64) int {
	const inverse = 0x1937733d // the inverse of userFactor modulo 2³¹
	return int((uint64(user-1) - p.scenario.Seed) * inverse & (1<<userBits - 1))
}

// SeedAfter returns a seed whose users differ from the first n users of the given seed.
func SeedAfter(seed uint64, n int) uint64 { return seed + uint64(n)*userFactor }

// keyOf returns the idempotency key of request i. The key contains the run: a request that arrives
// after the next reset must not count for the next run. The key contains the SKU, because another
// run may sell another SKU to the same users.
func (p *plan) keyOf(i int, sku int64) string { return p.keyPrefix(sku) + strconv.Itoa(i) }

// keyPrefix returns the common start of all keys for a SKU.
func (p *plan) keyPrefix(sku int64) string {
	return fmt.Sprintf("load-%x-%d-%d-", p.scenario.Seed, sku, p.runs[sku-p.scenario.SKU])
}

// maxDemand returns how many units the buyers want of the SKU with the greatest demand.
func (p *plan) maxDemand() int64 {
	demand := make([]int64, p.scenario.SKUs)
	for i := range p.requests {
		if p.originalOf(i) == i {
			demand[p.skuIndexOf(i)] += p.scenario.Quantity
		}
	}
	return slices.Max(demand)
}
