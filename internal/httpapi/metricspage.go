package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"seckill/internal/together"
)

// metricsPage shows metrics as text (version 0.0.4). It shares one reading among all
// who wait for it: the page is public, and costs as much as many purchases. A rest
// of restFactor times as long follows, however many ask.
type metricsPage struct {
	prometheus.Gatherer
	last together.Reading[[]byte]
}

const restFactor = 4

func (p *metricsPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.serve(w, r, time.Now())
}

func (p *metricsPage) serve(w http.ResponseWriter, r *http.Request, came time.Time) {
	text, err := p.last.Since(r.Context(), came, p.read, func(took time.Duration) time.Duration { return restFactor * took })
	if err != nil {
		http.Error(w, "The metrics cannot be read: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
	_, _ = w.Write(text)
}

func (p *metricsPage) read(context.Context) ([]byte, error) {
	families, err := p.Gather()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}
