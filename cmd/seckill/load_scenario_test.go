package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
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

func TestWrongLoadFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--steps 5,4":                     `--steps "5,4": write rates`,
		"--quantities many":               `--quantities "many": write quantities`,
		"--profile wave":                  `a profile "wave"`,
		"--profile constant --rate 5":     "a duration of 0s",
		"--rate 5":                        `rate means nothing with the profile "closed"`,
		"--rate NaN --profile constant":   "a rate of NaN",
		"--duplicates 2":                  "duplicates of 2",
		"--buyers 100":                    "nothing could be oversold",
		"--require p99<fast":              "is no time",
		"--target localhost:80":           "is not an address",
		"--target http://u:p@x":           "is not an address",
		"--timeout 0s":                    "a time-out of 0s",
		"--connections 9999999":           "9999999 connections",
		"--scenario /nowhere/at/all.yaml": "no such file",
	} {
		if _, err := parseLoad(t, strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
