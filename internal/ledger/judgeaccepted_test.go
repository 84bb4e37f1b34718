package ledger

import (
	"slices"
	"testing"
)

// Of the sale of clean: 7 is refused, 1 bought, 6 bought and does not know.
func TestJudgeAccepted(t *testing.T) {
	accept := func(e *Evidence, i int) {
		e.Told[i].Outcome, e.Told[i].OrderID, e.Told[i].Remaining = OutcomeAccepted, "", 0
	}
	refuse := func(e *Evidence, reason string) {
		e.Snapshot.Refusals = append(e.Snapshot.Refusals,
			Refusal{UserID: e.Told[7].User, RequestID: e.Told[7].RequestID, Quantity: e.Told[7].Quantity, Reason: reason})
	}
	for _, test := range []struct {
		name   string
		change func(*Evidence)
		want   []string
		count  Accepteds
	}{
		{"and has its order", func(e *Evidence) { accept(e, 1) }, nil, Accepteds{1, 1, 0, 0}},
		{"and then told sold", func(e *Evidence) { accept(e, e.again(1, OutcomeAccepted)) }, nil, Accepteds{1, 1, 0, 0}},
		{"and its order is cancelled", func(e *Evidence) { accept(e, 0) }, nil, Accepteds{1, 1, 0, 0}},
		{"and lost", func(e *Evidence) { accept(e, 7) }, []string{RuleLostRequest}, Accepteds{1, 0, 0, 1}},
		{"refused afterwards, as the ledger says", func(e *Evidence) {
			accept(e, 7)
			refuse(e, "not started")
		}, nil, Accepteds{1, 0, 1, 0}},
		{"another request was refused", func(e *Evidence) {
			accept(e, 7)
			refuse(e, "sold out")
			e.Snapshot.Refusals[0].RequestID += "x"
		}, []string{RuleLostRequest}, Accepteds{1, 0, 0, 1}},
		{"refused afterwards, as the buyer was told", func(e *Evidence) {
			accept(e, 7)
			e.at(7, 100, 110)
			e.at(e.again(7, OutcomeSoldOut), 100, 300)
		}, nil, Accepteds{1, 0, 1, 0}},
		{"refused before it was accepted", func(e *Evidence) {
			accept(e, 7)
			e.at(7, 100, 110)
			e.at(e.again(7, OutcomeSoldOut), 10, 20)
		}, []string{RuleLostRequest}, Accepteds{1, 0, 0, 1}},
		{"a copy told busy", func(e *Evidence) {
			accept(e, 7)
			e.again(7, OutcomeBusy)
		}, []string{RuleLostRequest}, Accepteds{1, 0, 0, 1}},
		{"two of three", func(e *Evidence) {
			accept(e, 1)
			accept(e, 6)
			accept(e, 7)
		}, []string{RuleLostRequest}, Accepteds{3, 2, 0, 1}},
	} {
		e := clean()
		test.change(&e)
		r := Judge(e)
		if got := broken(r); !slices.Equal(got, test.want) {
			t.Errorf("accepted, %s: breaks %v, want %v: %+v", test.name, got, test.want, r.Violations)
		}
		if r.Accepted == nil || *r.Accepted != test.count {
			t.Errorf("accepted, %s: counted %+v, want %+v", test.name, r.Accepted, test.count)
		}
		if len(test.want) > 0 && r.Verdict != Lost {
			t.Errorf("accepted, %s: the verdict is %s", test.name, r.Verdict)
		}
	}
	if r := Judge(clean()); r.Accepted != nil {
		t.Errorf("nobody was told accepted, and the report counts %+v", r.Accepted)
	}
}
