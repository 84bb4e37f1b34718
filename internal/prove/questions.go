package prove

import (
	"context"
	"slices"

	"seckill/internal/explore"
)

// A Question is a column of the guarantee matrix. It is answered by a search of its scenarios, or by its function ask.
type Question struct {
	// ID names the question in the matrix. If a catalog.Question has the same name, strategies declare their
	// answers to the question in catalog.Info.Guarantees.
	ID    string `json:"id"`
	Title string `json:"title"`
	Asks  string `json:"asks"`
	// Choosing is true if the answer helps to choose between strategies. A table without room for
	// all questions shows only the questions with Choosing.
	Choosing bool `json:"choosing,omitempty"`

	// applies returns the reason why the question does not apply to a strategy; "" if it applies.
	// If applies is nil, the question applies to every strategy.
	applies func(context.Context, *trial) (whyNot string, err error)
	// A strategy that breaks without a fault is not asked the question. The field premise is the cell's text if the
	// strategy breaks even with all buyers in one process. The field across is the cell's text if the strategy breaks
	// only with two processes. If across is "", the question is asked in one process instead.
	premise, across string
	// If there is no scenario, or if no schedule has a fault or a renewal, the answer is NotAsked, and notSeen is the
	// reason. If notSeen is "", every search gives an answer.
	notSeen string
	// breaks reports whether a schedule that breaks the rule is a counterexample for the question.
	breaks func(rule string) bool
	// scenarios returns the scenarios to search, with buyers in trial.processes processes.
	scenarios func(*trial) []*explore.Scenario
	// followUp completes the answer if no scenario has broken the strategy. It may be nil.
	followUp func(context.Context, *trial, Cell) (Cell, error)

	// ask answers the question without scenarios. If ask is nil, scenarios must be set.
	ask askFunc
}

type askFunc = func(context.Context, *trial) (Cell, error)

// These are texts for Question.notSeen. In these texts, "it" is the strategy.
const (
	nothingEnds = "there is nothing that could end or be lost"
	notLeased   = "it holds nothing between two commands that could end"
	notRenewed  = "nothing renews it by commands of its own"
	noClock     = "it asks no clock of its own"
)

// ofLocks returns a function for Question.applies. It is for questions that make sense only if the strategy has a
// lock and the lock excludes other buyers when there is no fault.
func ofLocks(whyNot string) func(context.Context, *trial) (string, error) {
	return func(ctx context.Context, t *trial) (string, error) {
		if t.info.Locker == nil {
			return whyNot, nil
		}
		s, err := t.searchFaultless(ctx, 1)
		if err != nil || s.broken.schedule(explore.RuleOverlap) == nil {
			return "", err
		}
		return "it excludes no one even without a fault", nil
	}
}

var (
	dies  = []explore.Fault{explore.Dies}
	ends  = []explore.Fault{explore.LeaseEnds}
	late  = []explore.Fault{explore.Delayed}
	lost  = []explore.Fault{explore.ReplyLost, explore.CommandLost}
	fails = []explore.Fault{explore.ReplyLost, explore.CommandLost, explore.Dies}
)

// Questions returns all questions, in the order of the guarantee matrix's columns.
func Questions() []Question {
	return slices.Concat(saleQuestions(), faultQuestions(), requestQuestions(), lockQuestions())
}

// QuestionIDs returns the IDs of all questions.
func QuestionIDs() []string {
	var ids []string
	for _, q := range Questions() {
		ids = append(ids, q.ID)
	}
	return ids
}

// chooseQuestions returns the questions with the given ids, in the order of Questions. If ids is nil, it returns all
// questions.
func chooseQuestions(ids []string) []Question {
	isOut := func(q Question) bool { return ids != nil && !slices.Contains(ids, q.ID) }
	return slices.DeleteFunc(Questions(), isOut)
}
