package adapter

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"seckill/internal/ledger"
)

// became reads a look-up of an accepted purchase. What says nothing, such as a
// backend that does not answer, leaves it open. A request that is not known any
// more is final and stays accepted: the judge finds out what became of it.
func (o Order) became(a Response) (r Reply, final bool) {
	var page struct {
		Orders  []sale `json:"orders"`
		Request struct {
			Status string `json:"status"`
			Code   string `json:"code"`
			Detail string `json:"detail"`
		} `json:"request"`
	}
	open := Reply{Outcome: ledger.OutcomeAccepted, Code: string(ledger.OutcomeAccepted)}
	if a.Status != http.StatusOK {
		return open, false
	}
	if !isType(a.ContentType, typeJSON) || json.Unmarshal(a.Body, &page) != nil {
		return Nonsense("a look-up of type %q: %s", a.ContentType, Excerpt(a.Body)), true
	}
	switch page.Request.Status {
	case "pending", "unknown":
		return open, false
	case "none":
		return open, true
	case "refused":
		if known, ok := contract[page.Request.Code]; ok && known.outcome != ledger.OutcomeUnknown {
			return Reply{Outcome: known.outcome, Code: page.Request.Code, Message: []byte(page.Request.Detail)}, true
		}
	case "ordered":
		if len(page.Orders) == 1 {
			return o.receipt(page.Orders[0], a), true
		}
	}
	return Nonsense("a look-up that says %s", Excerpt(a.Body)), true
}
