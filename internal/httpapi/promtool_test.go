package httpapi_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func promtool(t *testing.T, args ...string) (said string, ok bool) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "promtool", args...).CombinedOutput()
	return string(out), err == nil
}

// Prometheus itself reads the rules and the configuration, and each alert fires when
// it should and at no other time, on series that the service exposes.
func TestPrometheusTakesTheAlerts(t *testing.T) {
	const folder = deploy + "prometheus/"
	for _, args := range [][]string{{"check", "rules", folder + "seckill.rules.yaml"}, {"check", "config", folder + "prometheus.yaml"},
		{"test", "rules", folder + "seckill.tests.yaml"}} {
		if said, ok := promtool(t, args...); !ok {
			t.Errorf("promtool %s:\n%s", strings.Join(args, " "), said)
		}
	}

	var tests struct {
		Tests []struct {
			Name  string
			Input []struct{ Series string } `yaml:"input_series"`
			Alert []struct {
				Name   string `yaml:"alertname"`
				Expect []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	var rules struct {
		Groups []struct{ Rules []struct{ Alert string } }
	}
	read(t, folder+"seckill.tests.yaml", &tests)
	read(t, folder+"seckill.rules.yaml", &rules)
	all := exposed(t)
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, one := range tests.Tests {
		for _, in := range one.Input {
			name, labels, _ := strings.Cut(strings.TrimSuffix(in.Series, "}"), "{")
			if all[name] == nil {
				t.Errorf("%s: the process has no metric %s", one.Name, name)
			}
			for _, l := range pair.FindAllStringSubmatch(labels, -1) {
				if _, known := all[name][l[1]]; !known {
					t.Errorf("%s: %s has no label %s", one.Name, name, l[1])
				}
			}
		}
		for _, a := range one.Alert {
			fires[a.Name] = fires[a.Name] || len(a.Expect) > 0
			silent[a.Name] = silent[a.Name] || len(a.Expect) == 0
		}
	}
	for _, r := range rules.Groups[0].Rules {
		if !fires[r.Alert] || !silent[r.Alert] {
			t.Errorf("%s: no test has it fire, or none has it silent", r.Alert)
		}
	}

	t.Log("what is wrong is refused")
	text, err := os.ReadFile(folder + "seckill.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := os.ReadFile(folder + "seckill.tests.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string][2]string{
		"a metric that is not there": {"seckill_retries_total", "seckill_retry_total"},
		"a label that is not there":  {`outcome="internal"`, `result="internal"`},
		"a bound that is too high":   {"> 20000", "> 200000"},
		"no expression":              {"rate(", "rate)"},
	} {
		dir := t.TempDir()
		wrong := strings.Replace(string(text), change[0], change[1], 1)
		for name, content := range map[string]string{"seckill.rules.yaml": wrong, "seckill.tests.yaml": string(cases)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if said, ok := promtool(t, "test", "rules", filepath.Join(dir, "seckill.tests.yaml")); ok {
			t.Errorf("%s passes:\n%s", what, said)
		}
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
