package lab_test

import "testing"

// A paused process can be ended; one that has ended cannot be paused, and starts again.
func TestAPausedProcessEnds(t *testing.T) {
	p := process(t, privateLab(t), "redis")
	must(t, "pause", p.Pause())
	if !p.Alive() {
		t.Error("a paused process is said to have ended")
	}
	must(t, "terminate a paused process", p.Terminate(t.Context()))
	if p.Alive() || p.Ended() == "" {
		t.Error("it ended, and says that it is alive")
	}
	if err := p.Pause(); err == nil {
		t.Error("a process that has ended could be paused")
	}
	must(t, "terminate what has ended", p.Terminate(t.Context()))
	must(t, "start it again", p.Restart(t.Context()))
}
