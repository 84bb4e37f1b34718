package ledger

import (
	"fmt"
	"strings"
)

// A Case is an example as a code with parameters, for callers that say it in
// another language.
type Case struct {
	Code   string `json:"code"`
	Params Params `json:"params"`
}

// A form is a kind of example. Each word of params names an argument of format.
type form struct{ code, format, params string }

var (
	orderOf      = form{"order", "order %s of user %d", "order user"}
	orderOfRun   = form{"order_of_run", "order %s of run %d", "order run"}
	badOrder     = form{"bad_order", "order %s: quantity %d, state %q", "order quantity state"}
	soldBeyond   = form{"beyond", "order %s of user %d sold units %d to %d of %d", "order user from to stock"}
	soldTwice    = form{"twice", "orders %s and %s both sold unit %d: they were told %d and %d left", "order other unit left other_left"}
	twoOrders    = form{"user", "user %d", "user"}
	keepsStockIn = form{"keeps_stock_in", "%s keeps its stock in %s", "strategy store"}
	toldOther    = form{"told_other", "user %d was told order %s, %d units, %d left; the ledger has order %s, %d units, %d left",
		"user order quantity left found found_quantity found_left"}
	orderIs   = form{"order_is", "order %s of user %d is %s", "order user state"}
	toldTwice = form{"told_twice", "user %d was told order %s with %d left and order %s with %d left by the same request %s",
		"user order left other other_left request"}
	gotNoOrder    = form{"no_order", "user %d was given order %s", "user order"}
	turnedAwayOf  = form{"turned_away", "user %d wanted %d", "user quantity"}
	notInLedger   = form{"not_in_ledger", "order %s of user %d is not in the ledger", "order user"}
	requestBought = form{"request_bought", "user %d was told %s, and request %s has the order", "user told request"}
	heldTo        = form{"held_to", "order %s of user %d still holds %d units", "order user quantity"}
	releasedMore  = form{"released_more", "order %s of user %d held %d units and gave back %d", "order user quantity released"}
	byRequest     = form{"by_request", "user %d by request %s", "user request"}
)

// examples counts what breaks a rule, and shows the first few.
type examples struct {
	count int
	first []string
	cases []Case
}

const maxExamples = 5

func (e *examples) add(f form, args ...any) {
	if e.count++; len(e.first) >= maxExamples {
		return
	}
	e.first = append(e.first, fmt.Sprintf(f.format, args...))
	params := make(Params, len(args))
	for i, name := range strings.Fields(f.params) {
		params[name] = args[i]
	}
	e.cases = append(e.cases, Case{f.code, params})
}

// join adds what others found.
func (e *examples) join(other examples) {
	e.count += other.count
	free := max(0, min(maxExamples-len(e.first), len(other.first)))
	e.first, e.cases = append(e.first, other.first[:free]...), append(e.cases, other.cases[:free]...)
}
