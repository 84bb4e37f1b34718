package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/loadtest"
)

func parseLoad(t *testing.T, args ...string) (loadtest.Scenario, error) {
	t.Helper()
	var c struct {
		Load LoadCmd `cmd:""`
	}
	parser, err := newParser(&c)
	labtest.Must(t, err)
	_, err = parser.Parse(append([]string{"load"}, args...))
	return c.Load.Scenario, err
}

// Flags go before the scenario file, which goes before the defaults.
func TestScenarioOfFlagsAndFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sale.yaml")
	labtest.Must(t, os.WriteFile(file, []byte("stock: 300\nprofile: constant\nrate: 100\nduration: 9s\nrequire: [errors==0]\n"), 0o600))
	got, err := parseLoad(t, "--scenario", file, "--rate", "250.5", "--seed", "7", "--require", "p99<1s", "--async")
	labtest.Must(t, err)
	want := loadtest.DefaultScenario()
	want.Stock, want.Profile, want.Rate, want.Duration, want.Seed = 300, loadtest.Constant, 250.5, 9*time.Second, 7
	want.Require, want.Async = []string{"p99<1s"}, true
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want\n%+v", got, want)
	}
	got, err = parseLoad(t, "--strategy", "reserve", "--copies", "0.5", "--thorough", "--seed", "7")
	want = loadtest.ThoroughScenario()
	want.Strategy, want.Copies, want.Seed, want.Reserve, want.Forget = "reserve", 0.5, 7, time.Second, 0.2
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("--thorough is %+v (%v), want\n%+v", got, err, want)
	}
	a, _ := parseLoad(t)
	b, _ := parseLoad(t)
	if a.Seed == b.Seed {
		t.Error("two runs without a seed have the same")
	}
}

// The command line that the lab shows for a run holds the same sale.
func TestCommandOfAScenario(t *testing.T) {
	usual := loadtest.DefaultScenario()
	usual.Seed = 1<<64 - 1
	for _, change := range []func(*loadtest.Scenario){
		func(s *loadtest.Scenario) { s.Strategy, s.SKU, s.Stock, s.Quantity = "redis-lua", 3, 500, 2 },
		func(s *loadtest.Scenario) { s.Profile, s.Concurrency, s.Timeout = loadtest.Spike, 0, 15*time.Second },
		func(s *loadtest.Scenario) {
			s.Profile, s.Buyers, s.Concurrency, s.Rate, s.Duration = loadtest.Constant, 0, 0, 500, 3*time.Second
		},
		func(s *loadtest.Scenario) { s.Strategy, s.Async = "redis-stream", true },
		func(s *loadtest.Scenario) { s.Require = []string{"p99<50ms", "errors==0"} },
		func(s *loadtest.Scenario) {
			s.Strategy, s.Reserve, s.Forget = "reserve", 2*time.Second, .1
		},
	} {
		want := usual
		change(&want)
		words, err := exec.Command("sh", "-c", `printf '%s\n' `+want.Command()).Output()
		labtest.Must(t, err)
		got, err := parseLoad(t, strings.Fields(string(words))[2:]...)
		if err != nil || got.Command() != want.Command() || got.Requests() != want.Requests() || got.Seed != want.Seed {
			t.Errorf("%s\nis read as\n%s (%v)", want.Command(), got.Command(), err)
		}
	}
}
