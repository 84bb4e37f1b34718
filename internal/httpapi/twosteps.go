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

// respondAsync is the preference of RFC 7240 with which a buyer asks for an answer in two steps. The first answer,
// with the status 202, says that the purchase is accepted. The buyer asks for the order in a later call.
const respondAsync = "respond-async"

func prefersAsync(h http.Header) bool {
	for preference := range strings.SplitSeq(strings.Join(h.Values("Prefer"), ","), ",") {
		if strings.EqualFold(strings.TrimSpace(preference), respondAsync) {
			return true
		}
	}
	return false
}

func writeAccepted(c *gin.Context, p seckill.Purchase) {
	c.Header("Preference-Applied", respondAsync)
	c.JSON(http.StatusAccepted, gin.H{"request_id": p.RequestID, "status": judge.OutcomeAccepted,
		"ask": askOf(p.User, p.SKU, p.RequestID)})
}

// askOf returns the path of the call that reports the state of a request.
func askOf(user, sku int64, requestID string) string {
	return fmt.Sprintf("/api/v1/orders?user_id=%d&request_id=%s&sku_id=%d", user, url.QueryEscape(requestID), sku)
}

type requestState struct {
	Status    string     `json:"status"`               // pending, ordered, refused, none or unknown: see openapi.json
	Code      string     `json:"code,omitempty"`       // the code of the refusal; empty if the request is not refused
	Detail    string     `json:"detail,omitempty"`     // the text of the refusal; empty if the request is not refused
	RefusedAt *time.Time `json:"refused_at,omitempty"` // when the refusal was written, by the database's clock
}

// findState adds to l the state of the request that the filter f names. If l has no order yet, findState asks
// the ledger again, and waits for a transaction that is writing the order.
func (s *Server) findState(ctx context.Context, c *gin.Context, f ledger.Filter, l *list) {
	l.Request = &requestState{Status: "ordered"}
	if len(l.Orders) > 0 {
		return
	}
	known, err := s.ledger.AwaitRequest(ctx, f.SKU, f.User, f.RequestID)
	if a := s.acceptor(); a != nil && errors.Is(err, seckill.ErrUnknownOrder) {
		// Became returns nil if the order has been written meanwhile.
		if err = a.Became(ctx, f.SKU, f.User, f.RequestID); err == nil {
			known, err = s.ledger.FindRequest(ctx, f.SKU, f.User, f.RequestID)
		}
	}
	switch {
	case err == nil && known.Status == judge.Refused:
		refusal, _ := judge.FindCode(known.Reason)
		l.Request = &requestState{"refused", refusal.Code, refusal.Detail, &known.CreatedAt}
	case err == nil:
		l.Orders = []judge.Order{known}
	case errors.Is(err, seckill.ErrUnknownOrder):
		l.Request.Status = "none"
	case errors.Is(err, seckill.ErrPending):
		l.Request.Status = "pending"
	case seckill.NothingTaken(err) && !isTransient(err):
		refusal := judge.CodeOf(err)
		l.Request = &requestState{"refused", refusal.Code, refusal.Detail, nil}
	default:
		s.log(c, slog.LevelWarn, "cannot look up a request", "error", err)
		l.Request.Status = "unknown" // a backend that may know the request does not answer
	}
}

// acceptor returns a strategy that answers in two steps, or nil if no such strategy can run here. All such
// strategies keep their accepted requests in the same place, so any of them can look up a request.
func (s *Server) acceptor() seckill.Acceptor {
	for _, sl := range s.sellers {
		if a, ok := sl.strategy.(seckill.Acceptor); ok {
			return a
		}
	}
	return nil
}
