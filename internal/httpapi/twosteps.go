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

// respondAsync is the preference of RFC 7240 with which buyers ask for an answer in two steps. The
// first answer is 202 when the purchase is accepted. A later call gets the order.
const respondAsync = "respond-async"

func prefersAsync(h http.Header) bool {
	for preference := range strings.SplitSeq(strings.Join(h.Values("Prefer"), ","), ",") {
		if strings.EqualFold(strings.TrimSpace(preference), respondAsync) {
			return true
		}
	}
	return false
}

// writeAccepted writes the first of the two answers: 202.
func writeAccepted(c *gin.Context, p seckill.Purchase) {
	c.Header("Preference-Applied", respondAsync)
	c.JSON(http.StatusAccepted, gin.H{"request_id": p.RequestID, "status": judge.OutcomeAccepted,
		"ask": askOf(p.User, p.SKU, p.RequestID)})
}

// askOf returns the path of the call that reports what has become of a request.
func askOf(user, sku int64, requestID string) string {
	return fmt.Sprintf("/api/v1/orders?user_id=%d&request_id=%s&sku_id=%d", user, url.QueryEscape(requestID), sku)
}

// The states of a request.
const (
	requestPending = "pending" // accepted; the order, or the refusal, is not written yet
	requestOrdered = "ordered" // the request has an order, which is in the list
	requestRefused = "refused" // the request is refused for good
	requestNone    = "none"    // there is no order, and no strategy knows the request
	requestUnknown = "unknown" // there is no order, and a backend that may know the request does not answer
)

// A requestState reports the state of a request.
type requestState struct {
	Status    string     `json:"status"`
	Code      string     `json:"code,omitempty"`       // the problem's code, if the request is refused
	Detail    string     `json:"detail,omitempty"`     // the problem's detail, if the request is refused
	RefusedAt *time.Time `json:"refused_at,omitempty"` // when the refusal was written, by the database's clock
}

// findState adds to l the state of the request that the filter f names. If a first look has put no
// order into l, findState waits and looks again: the order may be written by now.
func (s *Server) findState(ctx context.Context, c *gin.Context, f ledger.Filter, l *list) {
	l.Request = &requestState{Status: requestOrdered}
	if len(l.Orders) > 0 {
		return
	}
	known, err := s.ledger.AwaitRequest(ctx, f.SKU, f.User, f.RequestID)
	if a := s.acceptor(); a != nil && errors.Is(err, seckill.ErrUnknownOrder) {
		if err = a.Became(ctx, f.SKU, f.User, f.RequestID); err == nil { // the order has been written meanwhile
			known, err = s.ledger.FindRequest(ctx, f.SKU, f.User, f.RequestID)
		}
	}
	switch {
	case err == nil && known.Status == judge.Refused:
		refusal, _ := judge.FindCode(known.Reason)
		l.Request = &requestState{requestRefused, refusal.Code, refusal.Detail, &known.CreatedAt}
	case err == nil:
		l.Orders = []judge.Order{known}
	case errors.Is(err, seckill.ErrUnknownOrder):
		l.Request.Status = requestNone
	case errors.Is(err, seckill.ErrPending):
		l.Request.Status = requestPending
	case seckill.NothingTaken(err) && !isTransient(err):
		refusal := judge.CodeOf(err)
		l.Request = &requestState{requestRefused, refusal.Code, refusal.Detail, nil}
	default:
		s.log(c, slog.LevelWarn, "cannot look up a request", "error", err)
		l.Request.Status = requestUnknown
	}
}

// acceptor returns a strategy that answers in two steps, or nil if no such strategy can run here.
// All of them keep their accepted requests in the same place, so any of them can look up a request.
func (s *Server) acceptor() seckill.Acceptor {
	for _, sl := range s.sellers {
		if a, ok := sl.strategy.(seckill.Acceptor); ok {
			return a
		}
	}
	return nil
}
