package loadtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"seckill/internal/judge"
	"seckill/internal/seckill"
)

// parseRestock reads a text such as 50@0.5s. It returns how many units each SKU gets, and how long after the
// start of the load.
func parseRestock(text string) (int64, time.Duration, error) {
	number, at, _ := strings.Cut(text, "@")
	units, notNumber := strconv.ParseInt(number, 10, 64)
	due, notTime := time.ParseDuration(at)
	if notNumber != nil || notTime != nil || units < 1 || units > seckill.MaxStock || due < 0 || due > time.Hour {
		return 0, 0, fmt.Errorf("%q is not UNITS@TIME, such as 50@0.5s, within an hour", text)
	}
	return units, due, nil
}

// startRestocks starts a goroutine for each SKU and each restock of the scenario. The goroutine waits until
// the restock is due. finishCopies waits for all of these goroutines.
func (r *run) startRestocks(l *load) {
	for i, text := range r.config.Restock {
		units, due, _ := parseRestock(text) // Config.Check has refused texts with an error.
		for k := range r.config.SKUs {
			sku := r.config.SKU + int64(k)
			key := r.plan.keyPrefix(sku) + "restock-" + strconv.Itoa(i)
			l.copies.Go(func() {
				if l.pauseFor(due) {
					r.restock(l, purchase{sku: sku, quantity: units, user: judge.OperatorOf(key), key: key})
				}
			})
		}
	}
}

// restock makes the calls of one restock with the same key, to one target after the other. It stops when two
// calls were acknowledged. The second of them must add nothing, so it tests the key.
func (r *run) restock(l *load, p purchase) {
	sent := request{method: http.MethodPost, key: p.key, body: map[string]int64{"units": p.quantity},
		path: skuPath(p.sku) + "/restock?strategy=" + url.QueryEscape(r.config.Strategy)}
	acknowledged, last := 0, error(nil)
	for try := range 3 + r.config.Retry {
		if acknowledged == 2 || try > 0 && acknowledged == 0 && !l.pauseFor(firstPause<<min(try, 5)) {
			break
		}
		call := judge.Call{Kind: judge.CallRestock, CallTimes: judge.CallTimes{Sent: l.sinceStart()}}
		err := r.services[try%len(r.services)].callJSON(context.Background(), sent, new(any))
		outcome := judge.OutcomeUnknown
		call.Answered = l.sinceStart()
		refused := (*refusal)(nil)
		switch {
		case err == nil:
			acknowledged, outcome = acknowledged+1, judge.OutcomeRestocked
		case !errors.As(err, &refused): // There was no answer, so the call has no time of an answer.
			last, call.Answered = err, 0
		default:
			last = err
			code, known := judge.FindCode(refused.problem.Code)
			if known && code.Outcome != judge.OutcomeUnknown && code.Outcome != judge.OutcomeInProgress {
				outcome = judge.OutcomeError // the answer says that the call has changed nothing
			}
		}
		r.tally.recordCall(p, call, try, reply{Outcome: outcome})
	}
	r.tally.updateResult(func(result *Result) {
		result.Restocks++
		if acknowledged == 0 {
			r.addProblem("not_restocked", params{"units": p.quantity, "error": last.Error()},
				"a restock of %d units was not acknowledged: %v", p.quantity, last)
		}
	})
}
