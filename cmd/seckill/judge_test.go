package main

import (
	"testing"

	"seckill/internal/ledger"
	"seckill/loadtest/told"
)

// A file of a generator that died before its first call proves nothing.
func TestNothingToJudge(t *testing.T) {
	none, one := []*told.Sale{{}, {}}, []*told.Sale{{}, {Told: make([]ledger.Told, 1)}}
	for _, c := range []struct {
		verdict, want ledger.Verdict
		sales         []*told.Sale
	}{
		{ledger.Held, ledger.NotValid, none}, {ledger.Held, ledger.Held, one}, {ledger.Lost, ledger.Lost, none},
	} {
		if got := proven(c.verdict, c.sales); got != c.want {
			t.Errorf("%s with %d calls: %s, want %s", c.verdict, calls(c.sales), got, c.want)
		}
	}
}
