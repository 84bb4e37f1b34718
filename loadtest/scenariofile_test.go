package loadtest

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

const wholeFile = `# many SKUs
strategy: zk
sku: 7
skus: 3
zipf: 1.1
stock: 50
quantity: 1
quantities:
  - {quantity: 1, share: 9}
  - {quantity: 3, share: 1}
duplicates: 0.1
copies: 5%
retry: 3
profile: steps
steps:
  - {rate: 100, for: 2s}
  - {rate: 200.5, for: 1500ms}
connections: 32
timeout: 3s
drain: 5s
seed: 18446744073709551615
async: true
require: ["p99<50ms", "errors==0"]
`

func TestParseScenario(t *testing.T) {
	f, err := ParseScenario("shop.yaml", []byte(wholeFile), Scenario{})
	if err != nil {
		t.Fatal(err)
	}
	want := Scenario{Strategy: "zk", SKU: 7, SKUs: 3, Zipf: 1.1, Stock: 50, Quantity: 1, Quantities: []Share{{1, 9}, {3, 1}}, Duplicates: 0.1, Copies: .05, Retry: 3,
		Profile: Stepped, Steps: []Step{{100, 2 * time.Second}, {200.5, 1500 * time.Millisecond}}, Connections: 32,
		Timeout: 3 * time.Second, Drain: 5 * time.Second, Seed: 1<<64 - 1, Buying: Buying{Async: true}, Require: []string{"p99<50ms", "errors==0"}}
	if !reflect.DeepEqual(f.Scenario, want) {
		t.Errorf("read\n%+v, want\n%+v", f.Scenario, want)
	}
	if err := f.Scenario.Check(); err != nil {
		t.Error(err)
	}
	base := DefaultScenario()
	if f, err = ParseScenario("x", []byte("stock: 3"), base); err != nil || f.Scenario.Buyers != base.Buyers || f.Scenario.Stock != 3 {
		t.Errorf("%+v, %v: what is left out must stay", f, err)
	}
}

// Whatever is wrong in a file is said with its line and its field.
func TestWrongScenarioFiles(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"empty", "", "shop.yaml: there is nothing in it"},
		{"comments only", "# nothing\n", "shop.yaml: there is nothing in it"},
		{"an unknown field", "stock: 5\nstok: 6\n", `shop.yaml:2: unknown field "stok"`},
		{"an unknown field inside", "profile: steps\nsteps:\n  - {rate: 1, how: 1s}\n", `shop.yaml:3: unknown field "how"`},
		{"a field twice", "stock: 5\nbuyers: 9\nstock: 6\n", `shop.yaml:3: mapping key "stock" already defined`},
		{"a text for a number", "buyers: 9\nstock: many\n", `shop.yaml:2: stock: "many" is no whole number`},
		{"a number for a time", "buyers: 9\n\ntimeout: soon\n", `shop.yaml:3: timeout: "soon" is no time with its unit, such as`},
		{"a time without its unit", "timeout: 10\n", `shop.yaml:1: timeout: "10" is no time with its unit`},
		{"a number that is too large", "stock: 99999999999999999999\n", `shop.yaml:1: stock: 99999999999999999999 is too large`},
		{"a text for a number inside", "steps:\n  - {rate: 1, for: 1s}\n  - {for: 1s,\n     rate: fast}\n", `shop.yaml:4: steps[1].rate: "fast" is no number`},
		{"a number for a list", "require: 5\n", `shop.yaml:1: require: "5" is no list`},
		{"a text for yes or no", "async: perhaps\n", `shop.yaml:1: async: "perhaps" is neither true nor false`},
		{"a number for fields", "steps:\n  - 5\n", `shop.yaml:2: steps[0]: "5" is no set of fields`},
		{"a list", "- stock\n", "shop.yaml:1: "},
		{"not YAML", "stock: [1\n", "shop.yaml:"},
		{"two documents", "stock: 5\n---\nstock: 6\n", "shop.yaml: 2 documents"},
		{"too long", strings.Repeat("#", maxScenarioFile+1), "bytes are no scenario"},

		{"an impossible number", "buyers: 500\nstock: -4\n", "shop.yaml:2: stock: stock is -4"},
		{"a share of too many percent", "copies: 150%\n", "no share"},
		{"a share in another unit", "copies: 0.5x\n", "no share"},
		{"too many retries", "retry: 21\n", "shop.yaml:1: retry: retry is 21"},
		{"an impossible share", "duplicates: 1.5\n", "shop.yaml:1: duplicates: duplicates is 1.5"},
		{"not a number", "zipf: .nan\n", "shop.yaml:1: zipf: zipf is NaN"},
		{"an impossible step", "profile: steps\nsteps:\n  - {rate: 10, for: 1s}\n  - {rate: -1, for: 1s}\n", "shop.yaml:4: steps[1]: -1 requests"},
		{"no step", "profile: steps\n", "give both or neither"},
		{"a rate of nothing", "rate: 5\n", `shop.yaml:1: rate: rate means nothing with the profile "closed"`},
		{"an unknown profile", "profile: wave\n", `shop.yaml:1: profile: there is no profile "wave"`},
		{"too little demand", "stock: 100\nbuyers: 100\nduplicates: 0\n", "shop.yaml:2: buyers: at most 100 units are wanted"},
		{"too much", "profile: constant\nrate: 1000000\nduration: 24h\n", "10,000,001 buyers"},
		{"a wrong requirement", "require: [p98<1ms]\n", `shop.yaml:1: require: a requirement on "p98"`},
	} {
		f, err := ParseScenario("shop.yaml", []byte(test.file), DefaultScenario())
		if err == nil {
			err = f.Explain(f.Scenario.Check())
		}
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func FuzzParseScenario(f *testing.F) {
	f.Add([]byte(wholeFile))
	f.Add([]byte("steps: [{rate: 1e300, for: 1h}]\nprofile: steps"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseScenario("f", data, DefaultScenario())
		if err == nil {
			if file.Scenario.SKUs > 100 || file.Scenario.Requests() > 100_000 {
				return // its plan would be large
			}
			err = file.Explain(file.Scenario.Check())
		}
		if err != nil && !errors.Is(err, ErrConfig) {
			t.Errorf("%v is no ErrConfig", err)
		}
	})
}
