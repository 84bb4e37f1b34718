package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/common/expfmt"
)

// metricsPage shares one reading of the metrics among all who wait for it: the page
// is public, and costs as much as many purchases. A reading begins after its callers
// have come, so that none gets older figures, and is followed by a rest of
// restFactor times as long, however many ask.
type metricsPage struct {
	read http.Handler

	mu     sync.Mutex
	next   map[expfmt.Format]*pageReading // not begun yet
	busy   sync.Mutex                     // held while one is made
	rested time.Time
}

const restFactor = 4

// A pageReading is what its callers are answered, once done is closed.
type pageReading struct {
	done   chan struct{}
	header http.Header
	code   int
	bytes.Buffer
}

func (n *pageReading) Header() http.Header  { return n.header }
func (n *pageReading) WriteHeader(code int) { n.code = code }

func newMetricsPage(read http.Handler) *metricsPage {
	return &metricsPage{read: read, next: map[expfmt.Format]*pageReading{}}
}

func (p *metricsPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := p.join(r)
	select {
	case <-n.done:
	case <-r.Context().Done():
		return
	}
	for name, values := range n.header {
		w.Header()[name] = values
	}
	w.WriteHeader(n.code)
	_, _ = w.Write(n.Bytes())
}

// join waits with others for the next reading in the format that r asks for.
func (p *metricsPage) join(r *http.Request) *pageReading {
	format := expfmt.NegotiateAccept(r.Header, expfmt.DefaultAcceptedFormats()...)
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.next[format]
	if n == nil {
		n = &pageReading{done: make(chan struct{}), header: http.Header{}, code: http.StatusOK}
		p.next[format] = n
		shared := r.Clone(context.WithoutCancel(r.Context())) // it is no single caller's
		shared.Header.Del("Accept-Encoding")
		shared.URL.RawQuery = "" // name[] would hide from all what one does not ask for
		go p.run(format, n, shared)
	}
	return n
}

func (p *metricsPage) run(format expfmt.Format, n *pageReading, r *http.Request) {
	defer close(n.done)
	p.busy.Lock()
	defer p.busy.Unlock()
	time.Sleep(time.Until(p.rested))
	p.mu.Lock()
	delete(p.next, format) // who comes now waits for the next one
	p.mu.Unlock()
	begun := time.Now()
	p.read.ServeHTTP(n, r)
	p.rested = time.Now().Add(restFactor * time.Since(begun))
}
