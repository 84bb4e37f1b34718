package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/ledger"
)

const (
	// lookEvery is how often a stream asks the ledger for news of its buyer.
	lookEvery = 500 * time.Millisecond
	heartbeat = 15 * time.Second
	// slowest bounds one write to a buyer.
	slowest = 5 * time.Second
	// mostNews bounds the latest orders, and refusals, that a stream looks at.
	mostNews = 100

	mostStreams        = 256 // of a process: each costs a connection and a few small queries a second
	mostStreamsOfBuyer = 4
	mostLooks          = 2 // at a time, of all streams: buyers who buy go before
)

// orderEvents streams what becomes of a buyer's requests: `order` for each of
// their latest orders and whenever one changes, `refused` for each refusal of an
// accepted request. Other processes' orders come the same way, from the ledger.
func (s *Server) orderEvents(c *gin.Context) error {
	q, err := readQuery(c, "user_id")
	if err != nil {
		return err
	}
	user, err := queryInteger(q, "user_id", 0, 1, maxID)
	if err != nil {
		return err
	}
	if user == 0 {
		return invalid("user_id", "is missing: say whose orders")
	}
	out := &orderStream{user: user, w: c.Writer, control: http.NewResponseController(c.Writer), told: map[string]string{}}
	if why := s.streams.add(out); why != "" {
		p := refused(errTooManyStreams, why)
		p.RetryAfter = 10
		return p
	}
	defer s.streams.remove(out)
	c.Header("Content-Type", "text/event-stream")
	c.Header("Cache-Control", "no-store")
	c.Header("X-Accel-Buffering", "no")
	out.send("retry: 1000\n\n")

	look, beat := time.NewTicker(lookEvery), time.NewTicker(heartbeat)
	defer look.Stop()
	defer beat.Stop()
	ctx, cancel := s.streams.until(c.Request.Context())
	defer cancel()
	for out.err == nil {
		if err := s.streams.look(ctx, out, s.Ledger); err != nil && ctx.Err() == nil {
			s.log(c, slog.LevelWarn, "look for a buyer's orders", "error", err)
		}
		select {
		case <-look.C:
		case <-beat.C:
			out.send(": still here\n\n")
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// An orderStream writes to one buyer until the first write fails.
type orderStream struct {
	user    int64
	w       http.ResponseWriter
	control *http.ResponseController
	err     error
	told    map[string]string // what the buyer knows of each order and request

	mu    sync.Mutex // guards ended, and the deadline with it
	ended bool
}

// look reads what the ledger has of a stream's buyer, when it is its turn, and
// tells them. What the ledger does not say now is for the next look.
func (s *orderStreams) look(ctx context.Context, o *orderStream, from *ledger.Store) error {
	select {
	case s.looks <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	orders, refusals, err := o.read(ctx, from)
	<-s.looks
	if err == nil {
		o.news(orders, refusals)
	}
	return err
}

func (o *orderStream) read(ctx context.Context, from *ledger.Store) (orders []ledger.Order, refusals []ledger.Refusal, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if orders, err = from.LatestOrders(ctx, o.user, mostNews); err != nil {
		return nil, nil, err
	}
	refusals, err = from.RefusalsOf(ctx, o.user, mostNews)
	return orders, refusals, err
}

// news tells the buyer what they do not know yet.
func (o *orderStream) news(orders []ledger.Order, refusals []ledger.Refusal) {
	known := o.told
	o.told = make(map[string]string, len(orders)+len(refusals)) // no more than was looked at
	ordered := map[string]bool{}
	for i := len(orders) - 1; i >= 0; i-- { // the oldest first
		one := &orders[i]
		ordered[fmt.Sprint(one.SKUID, " ", one.RequestID)] = true
		if o.told[one.PublicID] = one.Status; known[one.PublicID] != one.Status {
			o.event("order", one)
		}
	}
	for i := len(refusals) - 1; i >= 0; i-- {
		r := &refusals[i]
		request := fmt.Sprint(r.SKUID, " ", r.RequestID)
		if ordered[request] { // it was sent again
			continue
		}
		at := fmt.Sprint(r.RefusedAt)
		if o.told[request] = at; known[request] != at {
			o.event("refused", r)
		}
	}
}

func (o *orderStream) event(name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		o.err = err
		return
	}
	o.send("event: %s\ndata: %s\n\n", name, text)
}

func (o *orderStream) send(format string, args ...any) {
	if o.err != nil {
		return
	}
	if o.err = o.mayWrite(); o.err != nil {
		return
	}
	if _, o.err = fmt.Fprintf(o.w, format, args...); o.err == nil {
		o.err = o.control.Flush()
	}
}

// mayWrite sets the deadline of the next write; it fails on a stream that ended.
func (o *orderStream) mayWrite() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return http.ErrServerClosed
	}
	_ = o.control.SetWriteDeadline(time.Now().Add(slowest))
	return nil
}

// end makes a write that is under way fail.
func (o *orderStream) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	_ = o.control.SetWriteDeadline(time.Now())
}

// orderStreams are those that are open.
type orderStreams struct {
	mu     sync.Mutex
	open   map[*orderStream]bool
	closed chan struct{} // when the server shuts down
	looks  chan struct{} // holds a token for each look under way
}

func newOrderStreams() orderStreams {
	return orderStreams{open: map[*orderStream]bool{}, closed: make(chan struct{}), looks: make(chan struct{}, mostLooks)}
}

// until ends also when the server shuts down.
func (s *orderStreams) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-s.closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// add says why there is no room for one more.
func (s *orderStreams) add(one *orderStream) (why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closed:
		return "The service is shutting down."
	default:
	}
	own := 0
	for o := range s.open {
		if o.user == one.user {
			own++
		}
	}
	switch {
	case own >= mostStreamsOfBuyer:
		return fmt.Sprintf("This buyer has %d streams open already: close one.", own)
	case len(s.open) >= mostStreams:
		return fmt.Sprintf("%d streams are open at this process. GET /api/v1/orders answers without one.", len(s.open))
	}
	s.open[one] = true
	return ""
}

// remove must come before the handler returns: afterwards the connection is
// another request's.
func (s *orderStreams) remove(one *orderStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, one)
}

// end ends all streams, also those whose readers are slow, and lets no more in.
func (s *orderStreams) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
	for one := range s.open {
		one.end()
	}
}
