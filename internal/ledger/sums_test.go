package ledger

import (
	"slices"
	"testing"
)

// sums are what the buyers of clean were told.
func sums() *Sums {
	return &Sums{Requests: 8, Sold: 11, Unknown: 2, Cancelled: 2, SoldOut: 1, Wanted: 1}
}

// Each violation that sums alone can show, planted by itself.
func TestJudgeSums(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Evidence)
		want   []string
	}{
		{"as it should be", func(*Evidence) {}, nil},
		{"an unknown one got nothing", func(e *Evidence) {
			e.Snapshot.Orders, e.Snapshot.Stock.Num = e.Snapshot.Orders[:4], 1
			e.Sums.SoldOut = 2
		}, nil},
		{"a cancellation that is unknown, and took place", func(e *Evidence) { e.Sums.Cancelled, e.Sums.MaybeCancelled = 0, 2 }, nil},
		{"a cancellation that is unknown, and did not", func(e *Evidence) {
			e.Sums.Cancelled, e.Sums.MaybeCancelled = 0, 2
			e.Snapshot.Orders[0].Status, e.Initial, e.Snapshot.Stock.Initial = Active, 12, 12
		}, nil},
		{"one told sold has none", func(e *Evidence) {
			e.Snapshot.Orders = e.Snapshot.Orders[:3]
			e.Snapshot.Stock.Num, e.Sums.SoldOut = 4, 0
		}, []string{RuleFewerThanTold}},
		{"one told nothing has some", func(e *Evidence) { e.Sums.Unknown = 0 }, []string{RuleMoreThanTold}},
		{"told cancelled, and is not", func(e *Evidence) {
			e.Snapshot.Orders[0].Status, e.Initial, e.Snapshot.Stock.Initial = Active, 12, 12
			e.Sums.Unknown = 1
		}, []string{RuleMoreThanTold, RuleNotCancelled}},
		{"told cancelled, and is not, beside an unknown one that could explain it", func(e *Evidence) {
			e.Snapshot.Orders, e.Sums.Unknown = e.Snapshot.Orders[:4], 3
			e.Snapshot.Orders[0].Status, e.Initial, e.Snapshot.Stock.Initial = Active, 11, 11
		}, []string{RuleNotCancelled}},
		{"cancelled, and nobody asked for it", func(e *Evidence) {
			e.Sums.Cancelled, e.Sums.Sold, e.Sums.Unknown = 0, 9, 1
		}, []string{RuleCancelledUnasked}},
		{"told sold out of what stayed", func(e *Evidence) {
			e.Snapshot.Orders[0].Status, e.Sums.Cancelled = Cancelled, 0
			e.Snapshot.Orders = e.Snapshot.Orders[1:4]
			e.Snapshot.Stock.Num, e.Sums.Sold = 1, 9
		}, []string{RuleUndersold}},
		{"nothing at all was sold", func(e *Evidence) {
			*e.Sums = Sums{Requests: 8, Wanted: 1}
			e.Snapshot.Orders, e.Snapshot.Stock.Num = nil, 10
		}, []string{RuleNothingSold}},
		{"nothing that could be sold was wanted", func(e *Evidence) {
			*e.Sums = Sums{Requests: 8, Wanted: 11, SoldOut: 11}
			e.Snapshot.Orders, e.Snapshot.Stock.Num = nil, 10
		}, nil},
		{"oversold", func(e *Evidence) {
			e.Snapshot.Orders[1].Quantity, e.Snapshot.Stock.Num, e.Sums.Sold = 4, -1, 12
		}, []string{RuleOversold, RuleNegative}},
	} {
		e := clean()
		e.Told, e.Sums = nil, sums()
		test.change(&e)
		var got []string
		r := Judge(e)
		for _, v := range r.Violations {
			got = append(got, v.Rule)
		}
		if !slices.Equal(got, test.want) || (r.Verdict == Held) != (len(test.want) == 0) {
			t.Errorf("%s: %s by %v, want %v", test.name, r.Verdict, r.Violations, test.want)
		}
	}
}

func TestJudgeTotals(t *testing.T) {
	before := Totals{Initial: 10, Remaining: 8, Sold: 2} // by others, earlier
	for _, test := range []struct {
		name    string
		after   Totals
		told    Sums
		verdict Verdict
		rule    string
	}{
		{"as it should be", Totals{10, 0, 10}, Sums{Requests: 9, Sold: 7, Unknown: 2, SoldOut: 1, Wanted: 1}, Held, ""},
		{"all unknown got nothing", Totals{10, 1, 9}, Sums{Requests: 9, Sold: 7, Unknown: 2, SoldOut: 2, Wanted: 1}, Held, ""},
		{"oversold", Totals{10, -1, 11}, Sums{Requests: 9, Sold: 9, Wanted: 1}, Oversold, RuleOversold},
		{"an update was lost", Totals{10, 2, 9}, Sums{Requests: 9, Sold: 7, Wanted: 1}, Lost, RuleLostUpdate},
		{"units vanished", Totals{10, 0, 9}, Sums{Requests: 9, Sold: 7, Wanted: 1}, Lost, RuleLostUnits},
		{"fewer than told", Totals{10, 2, 8}, Sums{Requests: 9, Sold: 7, Wanted: 1}, Lost, RuleFewerThanTold},
		{"more than told", Totals{10, 0, 10}, Sums{Requests: 9, Sold: 6, Unknown: 1, Wanted: 1}, Lost, RuleMoreThanTold},
		{"undersold", Totals{10, 2, 8}, Sums{Requests: 9, Sold: 6, SoldOut: 1, Wanted: 1}, Lost, RuleUndersold},
		{"not undersold: they wanted more", Totals{10, 2, 8}, Sums{Requests: 9, Sold: 6, SoldOut: 3, Wanted: 1}, Held, ""},
		{"nothing sold", Totals{10, 8, 2}, Sums{Requests: 9, Wanted: 1}, Lost, RuleNothingSold},
		{"reset meanwhile", Totals{11, 1, 10}, Sums{Requests: 9, Sold: 8, Wanted: 1}, NotValid, RuleInitialChanged},
	} {
		r := JudgeTotals(1, 10, before, test.after, test.told)
		named := test.rule == "" && len(r.Violations) == 0 ||
			slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Rule == test.rule })
		if r.Verdict != test.verdict || !named {
			t.Errorf("%s: %s by %v, want %s by %s", test.name, r.Verdict, r.Violations, test.verdict, test.rule)
		}
	}
}

func TestSum(t *testing.T) {
	a := Report{Verdict: Held, SKU: 1, Run: 4, Initial: 10, Remaining: 1, Sold: 9, Orders: 8, Cancelled: 2, Violations: []Violation{}}
	b := Report{Verdict: Lost, SKU: 2, Initial: 10, Sold: 9, Orders: 9, Violations: []Violation{{Rule: RuleLostUnits, Message: "gone"}}}
	got := Sum([]Report{a, b})
	if got.Verdict != Lost || got.SKU != 1 || got.Initial != 20 || got.Remaining != 1 || got.Sold != 18 || got.Orders != 17 ||
		got.Cancelled != 2 || len(got.Violations) != 1 || got.Violations[0].Message != "SKU 2: gone" {
		t.Errorf("%+v", got)
	}
	b.Verdict = NotValid
	if got := Sum([]Report{{Verdict: Oversold}, b, {Verdict: Oversold}}); got.Verdict != NotValid {
		t.Errorf("%s, want the worst", got.Verdict)
	}
}
