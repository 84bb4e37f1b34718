package fault

import (
	"testing"
	"time"
)

// A sale may stand still for as long as its faults lasted. Times at which faults overlap count
// once. A fault that took no effect, or that only killed a process, does not count.
func TestOutage(t *testing.T) {
	took, void := &Effect{TookEffect: true}, &Effect{Why: NoPoint}
	m := &Injector{begun: time.Now().Add(-10 * time.Second)}
	for _, test := range []struct {
		name   string
		faults []Happening
		want   time.Duration
	}{
		{"none", nil, 0},
		{"a pause", []Happening{{Planned: Planned{Kind: "pause_holder", At: 300}, Until: 3300, State: IsOver, Effect: took}}, 3 * time.Second},
		{"pauses that overlap, in the order of their ends", []Happening{
			{Planned: Planned{Kind: "pause_service", At: 2000}, Until: 4000, State: IsOver, Effect: took},
			{Planned: Planned{Kind: "hang_holder", At: 1000}, Until: 5000, State: IsOver, Effect: took},
			{Planned: Planned{Kind: "cut_holder", At: 4500}, Until: 6000, State: IsOver, Effect: took},
			{Planned: Planned{Kind: "pause_service", At: 7000}, Until: 8000, State: IsOver, Effect: took}}, 6 * time.Second},
		{"one that goes on", []Happening{{Planned: Planned{Kind: "pause_service", At: 1000}, Until: 90000, State: IsOn, Effect: took}}, 9 * time.Second},
		{"Redis away, with its data kept", []Happening{{Planned: Planned{Kind: "restart_redis", At: 1000}, Until: 1500, State: IsOver,
			Effect: &Effect{Why: DataKept}}}, 500 * time.Millisecond},
		{"planned, waiting, without effect, failed", []Happening{{Planned: Planned{Kind: "pause_service", At: 100}, Until: 900, State: IsPlanned},
			{Planned: Planned{Kind: "pause_holder", At: 100}, State: IsWaiting}, {Planned: Planned{Kind: "pause_holder", At: 100}, Until: 900, State: IsOver, Effect: void},
			{Planned: Planned{Kind: "pause_service", At: 100}, Until: 900, State: HasFailed}}, 0},
		{"killed", []Happening{{Planned: Planned{Kind: "kill_holder", At: 100}, Until: 9000, State: IsOver, Effect: took}}, 0},
	} {
		m.faults = test.faults
		if got := m.Outage(); got < test.want || got > test.want+2*time.Second || got != test.want && test.name != "one that goes on" {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// Each fault belongs to a column of the guarantee matrix. What a strategy promises there decides
// whether chaos exits with an error.
func TestEveryFaultHasItsQuestion(t *testing.T) {
	for _, f := range All {
		if f.Question == "" {
			t.Errorf("%s has none, so no strategy would have to withstand it", f.Name)
		}
	}
}
