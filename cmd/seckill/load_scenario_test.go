package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"seckill/loadtest"
)

func parseLoad(t *testing.T, args ...string) (loadtest.Scenario, error) {
	t.Helper()
	var c struct {
		Load LoadCmd `cmd:""`
	}
	parser, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(append([]string{"load"}, args...))
	return c.Load.wanted, err
}

// Flags go before the scenario file, which goes before the defaults.
func TestScenarioOfFlagsAndFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sale.yaml")
	if err := os.WriteFile(file, []byte("stock: 300\nprofile: constant\nrate: 100\nduration: 9s\nrequire: [errors==0]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := parseLoad(t, "--scenario", file, "--rate", "250.5", "--seed", "7", "--quantities", "1:9,3:1", "--require", "p99<1s", "--no-history")
	if err != nil {
		t.Fatal(err)
	}
	want := loadtest.DefaultScenario()
	want.Stock, want.Profile, want.Rate, want.Duration, want.Seed = 300, loadtest.Constant, 250.5, 9*time.Second, 7
	want.Quantities, want.Require, want.NoHistory = []loadtest.Share{{Quantity: 1, Share: 9}, {Quantity: 3, Share: 1}}, []string{"errors==0", "p99<1s"}, true
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want\n%+v", got, want)
	}
	a, _ := parseLoad(t)
	b, _ := parseLoad(t)
	if a.Seed == b.Seed {
		t.Error("two runs without a seed have the same")
	}
}
