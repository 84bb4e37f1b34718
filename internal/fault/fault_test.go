package fault

import (
	"slices"
	"testing"

	"seckill/internal/prove"
)

// Each fault asks what a column of the guarantee matrix asks.
func TestFaultsAskAQuestion(t *testing.T) {
	for _, f := range All {
		if f.Name == LoseMySQL { // the matrix asks nothing about the loss of a database
			if f.Question != "" {
				t.Errorf("%s asks %q", f.Name, f.Question)
			}
			continue
		}
		if !slices.ContainsFunc(prove.Questions(), func(q prove.Question) bool { return q.ID == f.Question }) {
			t.Errorf("%s asks %q, which the matrix does not", f.Name, f.Question)
		}
	}
}
