package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/wire"
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
	requestRefused = "refused" // after it had been accepted
	requestNone    = "none"    // it has no order, and no strategy knows it
	requestUnknown = "unknown" // it has no order, and a backend that may know it does not answer
)

// A requestState is what became of a request.
type requestState struct {
	Status string `json:"status"`
	Code   string `json:"code,omitempty"`   // of a refusal, as a problem has it
	Detail string `json:"detail,omitempty"` // of a refusal
}

// became says what became of a request that had no order when it was looked up, and
// lists its order if it has one by now.
func (s *Server) became(ctx context.Context, c *gin.Context, f ledger.Filter, orders []ledger.Order) ([]ledger.Order, requestState) {
	if len(orders) > 0 {
		return orders, requestState{Status: requestOrdered}
	}
	if a := s.acceptor(); a != nil {
		switch err := a.Became(ctx, f.SKU, f.User, f.RequestID); {
		case err == nil, errors.Is(err, seckill.ErrUnknownOrder):
		case errors.Is(err, seckill.ErrPending):
			return orders, requestState{Status: requestPending}
		case isRefusal(err):
			r := wire.Of(err)
			return orders, requestState{Status: requestRefused, Code: r.Code, Detail: r.Detail}
		default:
			s.log(c, slog.LevelWarn, "look a request up", "error", err)
			return orders, requestState{Status: requestUnknown}
		}
	}
	o, err := s.ledger.Requested(ctx, 0, f.User, f.RequestID) // its COMMIT may be under way: that is waited for
	switch {
	case errors.Is(err, seckill.ErrUnknownOrder), err == nil && f.SKU != 0 && o.SKUID != f.SKU:
		return orders, requestState{Status: requestNone}
	case err != nil:
		s.log(c, slog.LevelWarn, "look a request up", "error", err)
		return orders, requestState{Status: requestUnknown}
	}
	return []ledger.Order{o}, requestState{Status: requestOrdered}
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
