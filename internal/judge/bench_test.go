package judge

import "testing"

// BenchmarkJudge judges a sale of 50,000 units with the answers to 100,000 calls.
func BenchmarkJudge(b *testing.B) {
	const units, calls = 50_000, 100_000
	e := &Evidence{Initial: units, Run: 4, Snapshot: Snapshot{Stock: Stock{ID: 1, Initial: units, Num: units, Run: 4}},
		StockStoreOf: clean().StockStoreOf}
	for user := range int64(calls) {
		if user < units {
			e.sell(user, 1)
		} else {
			e.says(user, 1, OutcomeSoldOut)
		}
	}
	for b.Loop() {
		if r := Judge(*e); r.Verdict != Held {
			b.Fatalf("%+v", r)
		}
	}
}
