package loadtest

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
)

const wholeFile = `# many SKUs
strategy: zk
sku: 7
skus: 3
zipf: 1.1
stock: 50
quantity: 1
duplicates: 0.1
copies: 0.05
retry: 3
profile: constant
rate: 200.5
duration: 1500ms
timeout: 3s
seed: 18446744073709551615
async: true
require: ["p99<50ms", "errors==0"]
`

func TestReadScenario(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.yaml")
	read := func(text string, base Scenario) (Scenario, error) {
		labtest.Must(t, os.WriteFile(file, []byte(text), 0o600))
		return ReadScenario(file, base)
	}
	s, err := read(wholeFile, Scenario{})
	want := Scenario{Strategy: "zk", SKU: 7, SKUs: 3, Zipf: 1.1, Stock: 50, Quantity: 1, Duplicates: 0.1, Copies: .05,
		Retry: 3, Profile: Constant, Rate: 200.5, Duration: 1500 * time.Millisecond, Timeout: 3 * time.Second,
		Seed: 1<<64 - 1, Async: true, Require: []string{"p99<50ms", "errors==0"}}
	if err != nil || !reflect.DeepEqual(s, want) || s.Check() != nil {
		t.Errorf("read\n%+v, %v, want\n%+v", s, err, want)
	}
	base := DefaultScenario()
	if s, err = read("stock: 3", base); err != nil || s.Buyers != base.Buyers || s.Stock != 3 {
		t.Errorf("%+v, %v: what is left out must stay", s, err)
	}
	for text, want := range map[string]string{
		"":                         "the file is empty",
		"# nothing\n":              "the file is empty",
		"stock: 5\nstok: 6\n":      `[2:1] unknown field "stok"`,
		"stock: 5\nstock: 6\n":     `[2:1] mapping key "stock" already defined`,
		"buyers: 9\nstock: many\n": "[2:8] cannot unmarshal",
		"timeout: soon\n":          `invalid duration "soon"`,
		"stock: [1\n":              "[1:8] ",
	} {
		_, err := read(text, base)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "shop.yaml: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.30q: %v, want %q in one line", text, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		change func(*Scenario)
		want   string
	}{
		{func(s *Scenario) { s.Buyers = maxRequests + 1 }, "buyers: 10000001"},
		{func(s *Scenario) { s.Strategy = "" }, "strategy: give the name"},
		{func(s *Scenario) { s.Quantity = s.Stock + 1 }, "no buyer could buy anything"},
		{func(s *Scenario) { s.Timeout = 0 }, "timeout: 0"},
		{func(s *Scenario) { s.Copies = 1.5 }, "copies: 1.5"},
		{func(s *Scenario) { s.SKU = seckill.ShopSKU }, "the lab's shop"},
		{func(s *Scenario) { s.SKU, s.SKUs = seckill.ShopSKU-9, 10 }, "the lab's shop"},
		{func(s *Scenario) { s.Retry = 21 }, "retry: 21"},
		{func(s *Scenario) { s.Rate = 5 }, `rate: the profile "closed" does not use it`},
		{func(s *Scenario) { s.Zipf = 1.5 }, "zipf: a sale of one SKU does not use it"},
		{func(s *Scenario) { s.Async, s.Reserve = true, time.Second }, "async: reservations do not use it"},
		{func(s *Scenario) { s.Buyers, s.Duplicates = 100, 0 }, "the buyers want at most 100 units"},
		{func(s *Scenario) { s.Buyers, s.Duplicates = 150, .5 }, "units of any SKU"},
		{func(s *Scenario) { s.Profile, s.Rate, s.Duration = Constant, 1e6, 24*time.Hour }, "10,000,001 buyers"},
		{func(s *Scenario) { s.Forget = .1 }, "give --reserve, such as 2s"},
		{func(s *Scenario) { s.Reserve = 1500 * time.Millisecond }, "give whole seconds"},
	} {
		s := DefaultScenario()
		test.change(&s)
		var field *seckill.FieldError
		if err := s.Check(); !errors.Is(err, ErrConfig) || !errors.As(err, &field) || field.Code == "" ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}
