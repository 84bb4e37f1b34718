package scale

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"seckill/internal/measure"
)

// Every number of processes has one SKU; the middle one has the rest.
func TestShapes(t *testing.T) {
	all := Shapes([]int{1, 2, 4, 8}, []int{1, 16, 64}, []string{"haproxy"})
	var got []string
	for _, s := range all {
		got = append(got, s.String())
	}
	want := "1 × service, 1 SKU|2 × service, 1 SKU|4 × service, 1 SKU|4 × service, 16 SKUs|4 × service, 64 SKUs|4 × service, 1 hot of 64 SKUs|" +
		"4 × service, 1 SKU, haproxy|4 × service, 64 SKUs, haproxy|8 × service, 1 SKU"
	if text := strings.Join(got, "|"); text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
	if one := Shapes([]int{1}, []int{1}, nil); len(one) != 1 {
		t.Errorf("%v", one)
	}
}

// What is full, or waited for, is named; a busy machine is told apart from our own
// programs.
func TestBottleneck(t *testing.T) {
	for want, u := range map[string]Use{
		"the row: 40 wait":                                  {Seconds: 2, Database: 1, Services: .5, WaitRow: 40},
		"the lock: 60 wait":                                 {Seconds: 2, Database: 1, WaitRow: 3, WaitLock: 60},
		"the thread of Redis: 90 % busy":                    {Seconds: 2, Redis: 1.8, Services: 1},
		"processors: database 60 %":                         {Seconds: 2, Database: 2.4, Services: .8, Generator: .4, WaitRow: .2},
		"processors: database 60 %; the row: 9 wait":        {Seconds: 2, Database: 2.4, Services: .8, Generator: .6, WaitRow: 9},
		"processors: load generator 50 %":                   {Seconds: 2, Generator: 2, Services: 1.6},
		"processors: programs of others 75 %":               {Seconds: 2, Database: .5, Machine: 3.5},
		"nothing is full: the log's flush, and round trips": {Seconds: 2, Database: .5, Services: .5},
	} {
		if got := u.bottleneck(2); got != want {
			t.Errorf("%+v: %q, want %q", u, got, want)
		}
	}
}

// measured is a machine whose rates follow the model exactly: an order takes 1 ms of
// the two processors and holds its row for 2 ms.
func measured() *Report {
	r := &Report{Command: "seckill bench scale", Result: &Result{Buyers: 64, Rounds: 1, Processors: 2}}
	for _, c := range []struct {
		shape Shape
		rate  float64
		row   float64
	}{{Shape{Processes: 1, SKUs: 1}, 499, 60}, {Shape{Processes: 4, SKUs: 1}, 499, 60}, {Shape{Processes: 4, SKUs: 64}, 1990, 0},
		{Shape{Processes: 4, SKUs: 1, Behind: "haproxy"}, 480, 60}} {
		u := Use{Seconds: 1, Services: .0003 * c.rate, Database: .0006 * c.rate, Generator: .0001 * c.rate, WaitRow: c.row, Statements: 4}
		if c.shape.Behind != "" {
			u.Proxies = .00005 * c.rate
		}
		r.Cells = append(r.Cells, &Cell{Strategy: "conditional", Shape: c.shape,
			Passes: []Pass{{Round: 1, Orders: int(c.rate), Rate: c.rate, P50: 1, P99: 9, Use: u}}})
	}
	r.Cells = append(r.Cells, &Cell{Strategy: "merged", Shape: Shape{Processes: 1, SKUs: 1}, Passes: []Pass{{Round: 1, Rate: 777}}, Error: "the sale was not held"})
	return r
}

// The model is made of the first cell alone, and says what others come to.
func TestModel(t *testing.T) {
	r := measured()
	m, ok := r.model("conditional")
	if !ok {
		t.Fatal("there is no model")
	}
	if h := m.first.Costs.Held; h < .0018 || h > .0021 {
		t.Errorf("the row is held for %g s, want about 2 ms", h)
	}
	for _, c := range r.Cells[:3] {
		p := m.predict(c.Shape, r.Processors, r.Buyers)
		if x := c.rate().Spread().Median; p.Rate < .93*x || p.Rate > 1.07*x {
			t.Errorf("%s: predicted %g, and measured %g", c.Shape, p.Rate, x)
		}
	}
	if p := m.predict(Shape{Processes: 4, SKUs: 64}, 2, 64); p.Busiest != "processors" {
		t.Errorf("over 64 rows %s are full", p.Busiest)
	}
	if hot := m.predict(Shape{Processes: 4, SKUs: 64, Zipf: Hot}, 2, 64); hot.Rate > 900 || hot.Rate < 700 {
		t.Errorf("a row with 61 %% of the demand lets %g orders through, want about 820", hot.Rate)
	}
	if _, ok := r.model("merged"); ok {
		t.Error("a sale that was not held has a model")
	}
}

// A strategy that collects is made of two cells. What lies between costs what its
// statements cost: a quarter of a statement and 2 ms for each, beside 0.1 ms.
func TestModelOfACollector(t *testing.T) {
	r := &Result{Buyers: 64, Rounds: 1, Processors: 2}
	add := func(s Shape, statements float64) {
		cost := .0001 + .002*statements
		rate := 2 * .98 / cost
		r.Cells = append(r.Cells, &Cell{Strategy: "merged", Shape: s, Passes: []Pass{{Round: 1, Orders: int(rate), Rate: rate,
			Use: Use{Seconds: 1, Services: .4 * cost * rate, Database: .6 * cost * rate, Statements: statements}}}})
	}
	add(Shape{Processes: 1, SKUs: 1}, .25)
	add(Shape{Processes: 2, SKUs: 1}, .5)
	add(Shape{Processes: 2, SKUs: 2}, 1)
	add(Shape{Processes: 2, SKUs: 64}, 1) // alone: no more collectors than orders
	m, ok := r.model("merged")
	if !ok || m.first.from != r.Cells[0] || m.alone.from != r.Cells[3] {
		t.Fatalf("the model is of %+v and %+v", m.first.from, m.alone.from)
	}
	for _, c := range r.Cells {
		p, x := m.predict(c.Shape, r.Processors, r.Buyers), c.rate().Spread().Median
		if p.Rate < .9*x || p.Rate > 1.1*x {
			t.Errorf("%s: predicted %g, and measured %g", c.Shape, p.Rate, x)
		}
	}
	hot := m.in(Shape{Processes: 2, SKUs: 64, Zipf: Hot}).statements
	if hot < .61*.5/.61+.3 || hot > 1 {
		t.Errorf("%g statements with one hot SKU: its orders are collected, the others are alone", hot)
	}
}

// Every form has all strategies, says what failed, and JSON can be read again.
func TestForms(t *testing.T) {
	r := measured()
	var text, page, data bytes.Buffer
	for _, err := range []error{measure.WriteText(&text, r.Tables()), r.WriteMarkdown(&page), r.WriteJSON(&data)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for form, b := range map[string]string{"text": text.String(), "Markdown": page.String()} {
		for _, want := range []string{"conditional", "haproxy", "failed", "FAILED: merged", "calibrated", "the row: 60 wait", "1,000"} {
			if !strings.Contains(b, want) {
				t.Errorf("%s lacks %q:\n%s", form, want, b)
			}
		}
		if strings.Contains(b, "777") {
			t.Errorf("%s: a sale that was not held has a rate", form)
		}
	}
	var again Report
	if err := json.Unmarshal(data.Bytes(), &again); err != nil || len(again.Cells) != len(r.Cells) {
		t.Errorf("read again: %v", err)
	}
}
