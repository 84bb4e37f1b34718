package loadtest

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"time"
)

// A plan says what every request of a run asks for. The user, the SKU and the key of request i follow from the seed
// and from i alone. So a plan needs no list of requests, and does not depend on which worker sends a request.
type plan struct {
	scenario Scenario
	requests int
	runs     []int64   // for each SKU, the number of its current run
	sku      []float64 // for each SKU, the cumulative share of the demand: of this SKU and of all SKUs before
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

// Each purpose has a stream of random numbers of its own. These are the numbers of the streams.
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
	drawPause // higher bits have the number of the call, so that each call has its own stream
)

// drawNumber returns a random number for request i from the given stream. It depends only on the seed, i and
// the stream. The algorithm is SplitMix64 (Steele, Lea and Flood, 2014).
func (p *plan) drawNumber(i int, stream uint64) uint64 {
	z := p.scenario.Seed + uint64(i)*0x9e3779b97f4a7c15 + stream*0xd1342543de82ef95
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// drawShare returns a random number for request i from the given stream. The number is at least 0 and less than 1.
func (p *plan) drawShare(i int, stream uint64) float64 {
	return float64(p.drawNumber(i, stream)>>11) / (1 << 53)
}

// maxDuplicateDistance is the maximum number of requests from a request to its duplicate. It is small, so
// that the first answer may still be missing when the duplicate is sent.
const maxDuplicateDistance = 16

// originalOf returns the number of an earlier request of the same user if request i is a
// duplicate. Otherwise it returns i.
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
	orderID       string        // the order or reservation that the buyer got, and now pays or cancels
	turn          int           // the number of the call within its request; each call goes to the next target
	copied        bool          // true if the request is sent several times at once
	cancels       bool          // true if the buyer cancels the order or the reservation
	forgets       bool          // true if the buyer never pays for the reservation
	asOrder       bool          // true if the cancellation names the order instead of the reservation
	patience      time.Duration // how long the buyer waits before hanging up; 0 means Scenario.Timeout
}

// maxPatience bounds how long a buyer waits before hanging up. Most purchases take about this long, so some
// calls are cut off before their commit and some after.
const maxPatience = 20 * time.Millisecond

func (p *plan) purchaseOf(i int) purchase {
	s, original := p.scenario, p.originalOf(i)
	sku := s.SKU + int64(p.skuIndexOf(original))
	made := purchase{index: i, user: p.userOf(original), sku: sku, quantity: s.Quantity, key: p.keyOf(i, sku),
		copied:  s.Copies > 0 && p.drawShare(i, drawCopies) < s.Copies,
		cancels: s.Cancellations > 0 && p.drawShare(i, drawCancel) < s.Cancellations}
	made.forgets = s.Reserve > 0 && !made.cancels && p.drawShare(i, drawPay) < s.Forget
	if s.Cuts > 0 && p.drawShare(i, drawCut) < s.Cuts {
		made.patience = 1 + time.Duration(p.drawShare(i, drawCutAfter)*float64(maxPatience))
	}
	return made
}

// skuIndexOf returns the index of the SKU for an original request, which is one that duplicates no other.
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

// userOf returns the user of an original request. It spreads the users over 2³¹ ids. An odd factor makes i ↦
// i·factor a permutation of the ids, so no two original requests share a user.
func (p *plan) userOf(original int) int64 {
	return 1 + int64((p.scenario.Seed+uint64(original)*userFactor)&(1<<userBits-1))
}

// requestOf returns the original request of a user. It is the inverse of userOf.
func (p *plan) requestOf(user int64) int {
	const inverse = 0x1937733d // the number whose product with userFactor is 1 modulo 2³¹
	return int((uint64(user-1) - p.scenario.Seed) * inverse & (1<<userBits - 1))
}

// SeedAfter returns a seed whose users are not among the first n users of the given seed.
func SeedAfter(seed uint64, n int) uint64 { return seed + uint64(n)*userFactor }

// keyOf returns the idempotency key of request i. The key contains the run, so that a request that arrives
// after the next reset does not count for the new run. It contains the SKU, because another load may sell
// another SKU to the same users.
func (p *plan) keyOf(i int, sku int64) string { return p.keyPrefix(sku) + strconv.Itoa(i) }

func (p *plan) keyPrefix(sku int64) string {
	return fmt.Sprintf("load-%x-%d-%d-", p.scenario.Seed, sku, p.runs[sku-p.scenario.SKU])
}

// maxDemand returns how many units buyers want of the SKU that most buyers want.
func (p *plan) maxDemand() int64 {
	demand := make([]int64, p.scenario.SKUs)
	for i := range p.requests {
		if p.originalOf(i) == i {
			demand[p.skuIndexOf(i)] += p.scenario.Quantity
		}
	}
	return slices.Max(demand)
}
