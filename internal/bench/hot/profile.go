package hot

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"seckill/internal/measure"
)

// A Profile says where the time of a strategy's sales goes.
type Profile struct {
	Name   string `json:"name"`
	Buyers int    `json:"buyers"`
	Pass   Pass   `json:"pass"`
	// Layers share the processor time of the service, in microseconds of a sale.
	Layers map[string]float64 `json:"service_us_by_layer"`
	// Statements are the database's, with the longest first.
	Statements []Statement `json:"statements"`
	Error      string      `json:"error,omitempty"`
}

// A Statement is what the database did for a sale. Time includes waiting for
// rows and for the log.
type Statement struct {
	Text  string  `json:"text"`
	Times float64 `json:"times"` // of a sale
	Us    float64 `json:"us"`    // of a sale
}

const (
	// profiled is how long the processor is sampled: about a hundred times a second
	// and processor.
	profiled = 4 * time.Second
	// margin is what a profiled sale takes longer at each end.
	margin = 500 * time.Millisecond
)

// ProfileAll sells once more with each strategy. Meanwhile the service is sampled
// and the database times its statements, which costs both something: rates of
// these sales are not figures. Strategies that were not held have an Error.
func ProfileAll(ctx context.Context, o Options, statements *Statements) ([]*Profile, error) {
	buyers := compared(o.Buyers)
	var all []*Profile
	for i, name := range o.Strategies {
		o.Progress(i, len(o.Strategies), "profile of "+name+", "+atATime(buyers))
		p := &Profile{Name: name, Buyers: buyers, Statements: []Statement{}}
		all = append(all, p)
		err := p.measure(ctx, o, statements)
		if ctx.Err() != nil {
			return all, context.Cause(ctx)
		}
		if err != nil {
			p.Error = err.Error()
		}
	}
	return all, nil
}

// compared is the number of buyers that the goals of most strategies are of, or
// the next one that was measured.
func compared(buyers []int) int {
	if slices.Contains(buyers, usually) {
		return usually
	}
	return slices.Max(buyers)
}

func (p *Profile) measure(ctx context.Context, o Options, statements *Statements) error {
	warm, err := o.sale(ctx, &Result{}, p.Name, p.Buyers, Size(p.Buyers, 0, 0))
	if err != nil {
		return err
	}
	if warm, err = o.sale(ctx, &Result{}, p.Name, p.Buyers, Size(p.Buyers, time.Second, warm.Rate)); err != nil {
		return err
	}
	if err := statements.begin(ctx); err != nil {
		return err
	}
	sampled := make(chan error, 1)
	var samples cpuSamples
	sampling, stop := context.WithCancel(ctx)
	defer stop()
	go func() { sampled <- samples.fetch(sampling, o.Sale.Targets, o.Sale.AdminToken) }()
	p.Pass, err = o.sale(ctx, &Result{}, p.Name, p.Buyers, Size(p.Buyers, profiled+2*margin, warm.Rate))
	if err != nil {
		return err
	}
	if err := <-sampled; err != nil {
		return fmt.Errorf("sample the service: %w", err)
	}
	p.Layers = samples.layers(p.Pass.Service)
	p.Statements, err = statements.end(ctx, p.Pass.Orders)
	return err
}

// fetch samples all service processes at a time.
func (s *cpuSamples) fetch(ctx context.Context, targets []string, token string) error {
	type answer struct {
		body []byte
		err  error
	}
	answers := make(chan answer, len(targets))
	for _, target := range targets {
		go func() {
			body, err := profileOf(ctx, target, token)
			answers <- answer{body, err}
		}()
	}
	for range targets {
		a := <-answers
		if a.err == nil {
			a.err = s.add(a.body)
		}
		if a.err != nil {
			return a.err
		}
	}
	return nil
}

// mostProfile bounds what a service may answer, in bytes.
const mostProfile = 64 << 20

func profileOf(ctx context.Context, target, token string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, profiled+30*time.Second)
	defer cancel()
	url := fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", target, int(profiled.Seconds()))
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostProfile))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answered %s: %.200s", url, answer.Status, strings.TrimSpace(string(body)))
	}
	return body, err
}

// texts are a profile's statements in a line.
func (p *Profile) texts() string {
	var parts []string
	rest := 0.0
	for i, s := range p.Statements {
		if i >= mostTexts || s.Times < rarest {
			rest += s.Us
			continue
		}
		part := fmt.Sprintf("%s %s µs", s.Text, measure.Number(s.Us))
		if s.Times < 0.95 || s.Times > 1.05 {
			part += fmt.Sprintf(" (%s × %s)", measure.Number(s.Times), measure.Number(s.Us/s.Times))
		}
		parts = append(parts, part)
	}
	if rest >= 0.5 {
		parts = append(parts, "the rest "+measure.Number(rest)+" µs")
	}
	return strings.Join(parts, "; ")
}

// mostTexts bounds the statements of a line; rarer ones set the sale up, or audit it.
const (
	mostTexts = 6
	rarest    = 0.01
)

// profileTables are empty where nothing was profiled.
func (r *Result) profileTables() []measure.Table {
	if len(r.Profiles) == 0 {
		return nil
	}
	with := fmt.Sprintf("%s, %s", atATime(r.Profiles[0].Buyers), r.how())
	server := measure.Table{Title: "What a sale waits for in the database, " + with, Words: 2,
		Head: []string{"strategy", "µs of statements a sale, with their waits"},
		Notes: []string{"Times are the server's own (performance_schema), from a sale apart: rows and the flush of the log are in them. " +
			"(n × t): n statements of t µs."}}
	cpu := measure.Table{Title: "Where the service spends processor time, µs a sale, " + with, Words: 1, Head: []string{"", "service µs"},
		Notes: []string{"Samples of the same sale, by what the sampled code was called for. Waking and sleeping is the scheduler's: " +
			"each answer that is waited for costs some."}}
	for _, l := range layers {
		cpu.Head = append(cpu.Head, l.name)
	}
	for _, p := range r.Profiles {
		if p.Error != "" {
			continue
		}
		server.Rows = append(server.Rows, []string{p.Name, p.texts()})
		sum, row := measure.None, []string{p.Name}
		if p.Pass.Service != nil {
			sum = measure.Number(*p.Pass.Service)
		}
		row = append(row, sum)
		for _, l := range layers {
			row = append(row, measure.Number(p.Layers[l.name]))
		}
		cpu.Rows = append(cpu.Rows, row)
	}
	return []measure.Table{server, cpu}
}
