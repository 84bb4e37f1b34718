package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/ledger"
)

// loaded is what these tests read of a result. A verdict says little without
// the rules it rests on: the audit is printed when a test fails.
type loaded struct {
	Verdict  ledger.Verdict
	Counts   map[ledger.Outcome]int
	Problems []string
	Audit    *ledger.Report
}

func secretFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The service sells to buyers whose tokens the load generator signs, lets them
// cancel, and refuses purchases without a token. Without the operator's token
// the sale cannot be reset, and the load generator says what it needs.
func TestLoadSignsItsBuyersTokens(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	secret := secretFile(t, "a secret of thirty-two bytes, or more\n")
	said, stop := serving(t, "--auth-secret="+secret)
	defer stop()
	if strings.Contains(said, "demo:") {
		t.Errorf("it says that it is a demo:\n%s", said)
	}
	url, token := found(t, said, `msg=serving address=(http://[^ \n]+)`), found(t, said, `file=([^ \n]+)`)
	load := func(args ...string) (r loaded) {
		var out, err bytes.Buffer
		run(t.Context(), func() {}, append([]string{"load", "--target", url, "--stock", "5", "--buyers", "20", "--concurrency", "4",
			"--cancellations", "0.2", "--json"}, args...), &out, &err)
		if e := json.Unmarshal(out.Bytes(), &r); e != nil {
			t.Fatalf("load %v: %v: %s %s", args, e, &out, &err)
		}
		return r
	}
	signed := load("--auth-secret="+secret, "--token-file="+token)
	if signed.Verdict != ledger.Held || signed.Counts[ledger.OutcomeSold] == 0 || signed.Counts[ledger.OutcomeError] != 0 {
		t.Errorf("with tokens: %s, %v, %v, %+v", signed.Verdict, signed.Counts, signed.Problems, signed.Audit)
	}
	unsigned := load("--token-file=" + token)
	if unsigned.Counts[ledger.OutcomeSold] != 0 || unsigned.Counts[ledger.OutcomeError] == 0 {
		t.Errorf("without tokens: %v", unsigned.Counts)
	}
	if r := load("--auth-secret=" + secret); !strings.Contains(strings.Join(r.Problems, "\n"), "the reset needs the service's token") {
		t.Errorf("without the operator's token: %v", r.Problems)
	}
}

func TestServeSaysThatItIsADemo(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	said, stop := serving(t)
	defer stop()
	if strings.Count(said, "demo: buyers are not authenticated") != 1 {
		t.Errorf("it says:\n%s", said)
	}
}
