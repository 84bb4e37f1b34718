package compare

import (
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/measure"
	"seckill/loadtest"
)

// added sums up what sales used. What one of them does not say is not known of
// all.
func added(sum, more loadtest.Processor, first bool) loadtest.Processor {
	if first {
		return more
	}
	add := func(a, b *float64) *float64 {
		if a == nil || b == nil {
			return nil
		}
		both := *a + *b
		return &both
	}
	return loadtest.Processor{Services: add(sum.Services, more.Services), Servers: add(sum.Servers, more.Servers),
		Generator: add(sum.Generator, more.Generator)}
}

// each divides what was used by the requests; nil: nothing is known.
func each(used loadtest.Processor, requests int) *Processor {
	if requests == 0 || used == (loadtest.Processor{}) {
		return nil
	}
	per := func(seconds *float64) *float64 {
		if seconds == nil {
			return nil
		}
		ms := 1000 * *seconds / float64(requests)
		return &ms
	}
	return &Processor{per(used.Services), per(used.Servers), per(used.Generator)}
}

// spent sums up all rounds: what was asked, refused and failed, and the processor
// time of a request.
func (e *Entry) spent() {
	failed, busy := 0, 0
	var used loadtest.Processor
	seconds := func(ms *float64, n int) *float64 {
		if ms == nil {
			return nil
		}
		s := *ms / 1000 * float64(n)
		return &s
	}
	for i, r := range e.Rounds {
		e.Asked, failed, busy = e.Asked+r.Asked, failed+r.Failed, busy+r.Busy
		p := r.Processor
		if p == nil {
			p = &Processor{}
		}
		used = added(used, loadtest.Processor{Services: seconds(p.Services, r.Asked), Servers: seconds(p.Servers, r.Asked),
			Generator: seconds(p.Generator, r.Asked)}, i == 0)
	}
	if e.Asked > 0 {
		e.Failed, e.Busy = float64(failed)/float64(e.Asked), float64(busy)/float64(e.Asked)
	}
	e.Processor = each(used, e.Asked)
}

const (
	bucketsPerDecade = 20
	// enoughFor999 requests have at least one beyond p99.9.
	enoughFor999 = 1000
)

// latencyOf sums up a histogram of microseconds; nil: it is empty.
func latencyOf(h *hdrhistogram.Histogram) *Latency {
	if h == nil || h.TotalCount() == 0 {
		return nil
	}
	at := func(percent float64) float64 { return float64(h.ValueAtQuantile(percent)) / 1000 }
	l := &Latency{Requests: h.TotalCount(), P50: at(50), P90: at(90), P99: at(99), Max: float64(h.Max()) / 1000, Buckets: []Bucket{}}
	if l.Requests >= enoughFor999 {
		l.P999 = at(99.9)
	}
	for _, bar := range h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		ms := float64(bar.To) / 1000
		upto := math.Pow(10, math.Ceil(math.Log10(ms)*bucketsPerDecade-1e-9)/bucketsPerDecade)
		upto = math.Round(upto*1e4) / 1e4
		if n := len(l.Buckets); n > 0 && l.Buckets[n-1].Upto == upto {
			l.Buckets[n-1].Count += bar.Count
			continue
		}
		l.Buckets = append(l.Buckets, Bucket{upto, bar.Count})
	}
	return l
}

const costNote = "Sold out in: from the first request to the last sale, if every sale sold all of its stock. p99.9: of all requests, if there " +
	"are 1,000 or more. Errors and busy: shares of the requests. CPU: processor time per request; the generator's has " +
	"engines embedded in its process."

// costTable leaves out what was not asked.
func (r *Result) costTable() measure.Table {
	t := measure.Table{Title: "What a sale took", Words: 1, Head: []string{"strategy", "sold out in s", "p99.9 ms", "errors", "busy",
		"CPU service ms", "CPU servers ms", "CPU generator ms"}}
	share := func(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) }
	for _, e := range r.Strategies {
		if e.Asked == 0 {
			continue
		}
		row := []string{e.Strategy, measure.None, measure.None, share(e.Failed), share(e.Busy), measure.None, measure.None, measure.None}
		if e.SellOut != nil {
			row[1] = spread(*e.SellOut)
		}
		if e.Latency != nil && e.Latency.P999 > 0 {
			row[2] = measure.Number(e.Latency.P999)
		}
		if p := e.Processor; p != nil {
			for i, ms := range []*float64{p.Services, p.Servers, p.Generator} {
				if ms != nil {
					row[5+i] = measure.Number(*ms)
				}
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if t.Rows != nil {
		t.Notes = []string{costNote}
	}
	return t
}
