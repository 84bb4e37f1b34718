package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/judge"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// respondAsync is the preference of RFC 7240 by which buyers ask for an answer
// in two steps.
const respondAsync = "respond-async"

func prefersAsync(h http.Header) bool {
	for preference := range strings.SplitSeq(strings.Join(h.Values("Prefer"), ","), ",") {
		if strings.EqualFold(strings.TrimSpace(preference), respondAsync) {
			return true
		}
	}
	return false
}

// answerAccepted is the first of two answers.
func answerAccepted(c *gin.Context, p seckill.Purchase) {
	c.Header("Preference-Applied", respondAsync)
	c.JSON(http.StatusAccepted, gin.H{"request_id": p.RequestID, "status": outcomeAccepted, "ask": askOf(p.User, p.SKU, p.RequestID)})
}

// askOf is the call that tells what became of a request.
func askOf(user, sku int64, requestID string) string {
	return fmt.Sprintf("/api/v1/orders?user_id=%d&request_id=%s&sku_id=%d", user, url.QueryEscape(requestID), sku)
}

// isRefusal: err is the database's word on a purchase, and not that it could not
// be asked.
func isRefusal(err error) bool {
	return seckill.NothingTaken(err) && !errors.Is(err, seckill.ErrUnavailable) && !errors.Is(err, seckill.ErrBusy) && !errors.Is(err, seckill.ErrConflict)
}

// What a look-up says of a request.
const (
	requestPending = "pending" // accepted; the order, or the refusal, comes later
	requestOrdered = "ordered" // the list has its order
	requestRefused = "refused" // for good
	requestNone    = "none"    // it has no order, and no strategy knows it
	requestUnknown = "unknown" // it has no order, and a backend that may know it does not answer
)

// A requestState is what became of a request.
type requestState struct {
	Status string `json:"status"`
	Code   string `json:"code,omitempty"`   // of a refusal, as a problem has it
	Detail string `json:"detail,omitempty"` // of a refusal
	// RefusedAt is when the refusal was written, by the database's clock.
	RefusedAt *time.Time `json:"refused_at,omitempty"`
}

// became says what became of a request that had no order when it was looked up, and
// lists its order if it has one by now.
func (s *Server) became(ctx context.Context, c *gin.Context, f ledger.Filter, orders []judge.Order) ([]judge.Order, requestState) {
	if len(orders) > 0 {
		return orders, requestState{Status: requestOrdered}
	}
	known, err := s.ledger.AwaitRequest(ctx, f.SKU, f.User, f.RequestID)
	switch a := s.acceptor(); {
	case err == nil && known.Status == judge.Refused:
		refusal, _ := judge.FindCode(known.Reason)
		return orders, requestState{Status: requestRefused, Code: refusal.Code, Detail: refusal.Detail, RefusedAt: &known.CreatedAt}
	case err == nil:
		return []judge.Order{known}, requestState{Status: requestOrdered}
	case errors.Is(err, seckill.ErrUnknownOrder) && a != nil:
		if err = a.Became(ctx, f.SKU, f.User, f.RequestID); err == nil { // its order was written since
			if known, err = s.ledger.FindRequest(ctx, f.SKU, f.User, f.RequestID); err == nil {
				return []judge.Order{known}, requestState{Status: requestOrdered}
			}
		}
	}
	switch {
	case errors.Is(err, seckill.ErrUnknownOrder):
		return orders, requestState{Status: requestNone}
	case errors.Is(err, seckill.ErrPending):
		return orders, requestState{Status: requestPending}
	case isRefusal(err):
		r := judge.CodeOf(err)
		return orders, requestState{Status: requestRefused, Code: r.Code, Detail: r.Detail}
	}
	s.log(c, slog.LevelWarn, "look a request up", "error", err)
	return orders, requestState{Status: requestUnknown}
}

// acceptor is a strategy that knows what was accepted; nil: none can here. All of them
// keep it in one place.
func (s *Server) acceptor() seckill.Acceptor {
	for _, sl := range s.sellers {
		if a, ok := sl.strategy.(seckill.Acceptor); ok {
			return a
		}
	}
	return nil
}
