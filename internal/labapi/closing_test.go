package labapi

import (
	"strings"
	"testing"
)

// A page that asks while the lab is being stopped begins nothing that would be
// cut off without a verdict.
func TestNothingBeginsWhileTheLabCloses(t *testing.T) {
	s, h, f := startComparing(t, nil)
	must(t, s.Close(t.Context()))
	for path, body := range map[string]string{"/api/lab/v1/runs": goodRun, comparisonsPath: goodComparison} {
		status, answer, _ := call{method: "POST", path: path, body: body}.do(t, h.URL)
		if status != 503 || !strings.Contains(answer, "lab_closes") {
			t.Errorf("POST %s to a lab that closes: %d %s", path, status, answer)
		}
	}
	if len(s.runs.list()) > 0 || len(s.comparisons.list()) > 0 || len(f.options) > 0 {
		t.Error("something has begun all the same")
	}
	if _, err := s.turn.take("anything"); err != nil {
		t.Errorf("after it: %v", err)
	}
}
