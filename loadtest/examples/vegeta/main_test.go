package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"seckill/internal/ledger"
	"seckill/loadtest/told"
)

// What vegeta encode --to json writes becomes what the judge reads.
func TestConvert(t *testing.T) {
	f, err := os.Open("testdata/results.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines bytes.Buffer
	if err := convert(f, &lines, 1, 100, "conditional"); err != nil {
		t.Fatal(err)
	}
	sales, err := told.Read(&lines)
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []string
	for _, call := range sales[0].Told {
		outcomes = append(outcomes, string(call.Outcome))
	}
	if got := strings.Join(outcomes, " "); got != "sold sold_out unknown busy unknown error unknown" {
		t.Error(got)
	}
	first, third := sales[0].Told[0], sales[0].Told[2]
	if first.User != 1 || first.RequestID != "v1" || first.OrderID != "A" || first.Remaining != 1 || first.Answered-first.Sent != 1_500_000 ||
		third.Answered != 0 || third.Sent-first.Sent != 200_000_000 || third.Outcome != ledger.OutcomeUnknown {
		t.Errorf("%+v, %+v", first, third)
	}
	for _, bad := range []string{"{", `{"code":200,"url":"http://x/"}`, "code,200"} {
		if err := convert(strings.NewReader(bad), io.Discard, 1, 1, ""); err == nil || !strings.Contains(err.Error(), "result 1") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
