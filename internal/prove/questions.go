package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"seckill/internal/explore"
)

// A Question is a column of the matrix: a search in scenarios, or whatever ask does.
type Question struct {
	ID    string `json:"id"` // as a catalog.Question, where strategies say what they expect
	Title string `json:"title"`
	Asks  string `json:"asks"`
	// Choosing: it tells strategies apart. Where there is no room for all questions,
	// these have a column.
	Choosing bool `json:"choosing,omitempty"`

	// applies says why it cannot be asked; nil: it always can.
	applies func(context.Context, *trial) (whyNot string, err error)
	// premise is why it is not asked of a strategy that breaks by itself; across, of one
	// that breaks with its buyers in two processes. "": it is asked nevertheless, in one.
	premise, across string
	// nothing says why it is not asked where the searches so far have seen nothing of
	// what it is about; nil: there need be nothing.
	nothing func(*trial, explore.Result) string
	// breaks says which rules count.
	breaks func(rule string) bool
	// scenarios are searched, in trial.processes.
	scenarios func(*trial) []*explore.Scenario
	// then is what else is asked of a strategy that has not broken; nil: nothing.
	then func(context.Context, *trial, Cell) (Cell, error)

	// ask answers in another way than by a search; nil: it is a search.
	ask func(context.Context, *trial) (Cell, error)
}

var (
	nothingEnds = unlessFaulty("there is nothing that could end or be lost")
	notLeased   = unlessFaulty("it holds nothing between two commands that could end")
)

func unlessFaulty(why string) func(*trial, explore.Result) string {
	return func(_ *trial, r explore.Result) string {
		if r.Faulty > 0 {
			return ""
		}
		return why
	}
}

func unlessRenewed(_ *trial, r explore.Result) string {
	if r.Renewed > 0 {
		return ""
	}
	return "nothing renews it by commands of its own"
}

func unlessAsksTime(t *trial, _ explore.Result) string {
	if t.world.AsksTime() {
		return ""
	}
	return "it asks no clock of its own"
}

// ofLocks returns a condition: the question is asked of locks that exclude, if nothing goes wrong.
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

// Questions returns all columns, in order.
func Questions() []Question {
	return []Question{
		oversell(),
		lostUpdate(),
		acrossProcesses(),
		soldOut(),
		deadHolder(),
		buyerLeaves(),
		hungHolder(),
		leaseEnd(),
		clocksDisagree(),
		onlyOwnerReleases(),
		lostReply(),
		lateCommand(),
		renewers(),
		cancelling(),
		resetAndStart(),
		sameKey(),
		twoFaults(),
		otherSKUs(),
		howItWaits(),
		firstComeFirstServed(),
		reentrant(),
		lossOfOneNode(),
	}
}

// QuestionIDs returns the IDs of all questions.
func QuestionIDs() (ids []string) {
	for _, q := range Questions() {
		ids = append(ids, q.ID)
	}
	return ids
}

// chooseQuestions returns the questions with these ids, or all, in their order.
func chooseQuestions(ids []string) ([]Question, error) {
	known := QuestionIDs()
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return nil, fmt.Errorf("there is no question %q, only %s", id, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(Questions(), func(q Question) bool { return ids != nil && !slices.Contains(ids, q.ID) }), nil
}
