package fault

import (
	"testing"

	"seckill/loadtest"
)

// Each fault asks what a column of the guarantee matrix asks, of which a run that
// held has words for the order that breaks it.
func TestFaultsAskAQuestion(t *testing.T) {
	for _, f := range All {
		if f.Name == LoseMySQL { // the matrix asks nothing about the loss of a database
			if f.Question != "" {
				t.Errorf("%s asks %q", f.Name, f.Question)
			}
			continue
		}
		if (loadtest.Known{Question: f.Question}).When() == f.Question {
			t.Errorf("%s asks %q, and there are no words for it", f.Name, f.Question)
		}
	}
}
