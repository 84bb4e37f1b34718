package loadtest

import (
	"sync"

	"seckill/internal/ledger"
	"seckill/loadtest/adapter"
)

// A history is every call about one SKU, for the judge.
type history struct {
	mu    sync.Mutex
	told  []ledger.Told
	index []uint32 // of each call's request in the plan
}

// newHistories has room for a history of each SKU: a large slice that grows is
// copied while buyers wait. Memory that stays empty is not used.
func newHistories(p *plan) []*history {
	all := make([]*history, p.SKUs)
	each := p.requests / p.SKUs
	for k := range all {
		all[k] = &history{told: make([]ledger.Told, 0, each+each/20), index: make([]uint32, 0, each+each/20)}
	}
	return all
}

// add records what a buyer was told by one call about p.
func (l *load) add(p purchase, t ledger.Told, r adapter.Reply) {
	t.RequestID, t.User, t.Quantity = string(l.plan.key(nil, p.index, p.sku)), p.user, p.quantity
	t.Outcome, t.OrderID, t.Remaining = r.Outcome, string(r.OrderID), r.Remaining
	if r.Silent() {
		t.Answered = 0
	}
	h := l.histories[p.sku-l.SKU]
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told, h.index = append(h.told, t), append(h.index, uint32(p.index))
}
