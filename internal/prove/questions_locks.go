package prove

import "context"

// lockQuestions returns the questions about how a lock behaves. They are answered by measuring in real time.
func lockQuestions() []Question {
	return []Question{
		{ID: "waits", Title: "how it waits", Choosing: true,
			Asks: "What a buyer does while another holds the lock, and how many commands that costs in 300 ms.",
			ask:  atLock(measureWait)},
		{ID: "order", Title: "first come first served",
			Asks: "Six buyers come one after another while a seventh holds the lock: do they get it in that order?",
			ask:  atLock(measureOrder)},
		{ID: "reentrant", Title: "reentrant",
			Asks: "Does the holder get the lock again when it passes its lease's context on?",
			applies: func(_ context.Context, t *trial) (string, error) {
				if t.info.Locker == nil {
					return "not a lock", nil
				}
				return "", nil
			}, ask: atLock(measureReentrancy)},
		{ID: NodeLossQuestion, Title: "loss of one node",
			Asks: "One server of the lock's backend is lost while the lock is held.",
			applies: func(_ context.Context, t *trial) (string, error) {
				_, whyNot := ensembleOf(t.info)
				return whyNot, nil
			}, premise: "it breaks with every node alive", ask: loseNodes},
	}
}
