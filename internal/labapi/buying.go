package labapi

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/web"
	"seckill/loadtest"
)

// Buying is how the buyers of a run, or of a comparison, buy.
type Buying struct {
	Way BuyingWay `json:"buying,omitempty"` // empty: at once
	// Of those who reserve: for how long, and what share of them, in percent, never
	// pays or pays after the deadline.
	Reserve int `json:"reserve_seconds,omitempty"`
	Forget  int `json:"forget_percent,omitempty"`
	PayLate int `json:"pay_late_percent,omitempty"`
}

// A BuyingWay is one call, an answer in two steps, or two calls.
type BuyingWay string

const (
	AtOnce     BuyingWay = "at_once"
	InTwoSteps BuyingWay = "async"
	Reserving  BuyingWay = "reserve"
)

// mostReserve is in seconds: a run waits for its last deadline.
const mostReserve = 30

// fields are what a request may say of it.
func (b *Buying) fields() []web.Field {
	return []web.Field{{Name: "buying", Into: (*string)(&b.Way)}, {Name: "reserve_seconds", Into: &b.Reserve},
		{Name: "forget_percent", Into: &b.Forget}, {Name: "pay_late_percent", Into: &b.PayLate}}
}

// check blames what is wrong with b for these strategies, of all there are.
func (b *Buying) check(chosen, all []catalog.Info, p *web.Problem) {
	if b.Way == AtOnce {
		b.Way = ""
	}
	accepts := func(i catalog.Info) bool { return i.Accepts }
	switch b.Way {
	case "":
	case InTwoSteps: // others answer as ever, beside one that can
		if !slices.ContainsFunc(chosen, accepts) {
			names := namesOf(all, accepts)
			p.Blame("buying", "cannot_accept", map[string]any{"names": names},
				"none of these strategies answers in two steps: add "+either(names))
		}
	case Reserving:
		within(p, "reserve_seconds", int64(b.Reserve), 1, mostReserve)
		within(p, "forget_percent", int64(b.Forget), 0, 100)
		within(p, "pay_late_percent", int64(b.PayLate), 0, 100)
		if p.Errors == nil && b.Forget+b.PayLate > 100 {
			p.Blame("pay_late_percent", "both_shares", nil, "give at most 100 together with forget_percent")
		}
		if i := slices.IndexFunc(chosen, func(i catalog.Info) bool { return i.Name != "" && !i.Reserves }); i >= 0 {
			names := namesOf(all, func(i catalog.Info) bool { return i.Reserves })
			p.Blame("buying", "cannot_reserve", map[string]any{"name": chosen[i].Name, "names": names},
				fmt.Sprintf("%s has no reservations: choose %s alone", chosen[i].Name, either(names)))
		}
		return
	default:
		values := []BuyingWay{AtOnce, InTwoSteps, Reserving}
		p.Blame("buying", "one_of", map[string]any{"values": values}, "give one of at_once, async, reserve")
		return
	}
	for _, f := range b.fields()[1:] {
		if *f.Into.(*int) != 0 {
			p.Blame(f.Name, "only_reserving", nil, `means nothing unless "buying" is "reserve": leave it out`)
		}
	}
}

func namesOf(all []catalog.Info, are func(catalog.Info) bool) []string {
	names := []string{}
	for _, i := range all {
		if are(i) {
			names = append(names, i.Name)
		}
	}
	return names
}

func either(names []string) string {
	if len(names) == 0 {
		return "nothing: none can here"
	}
	return strings.Join(names, " or ")
}

// apply has the buyers of a sale buy so.
func (b Buying) apply(s *loadtest.Scenario) {
	s.Async = b.Way == InTwoSteps
	s.Reserve = time.Duration(b.Reserve) * time.Second
	s.Forget, s.PayLate = loadtest.Fraction(b.Forget)/100, loadtest.Fraction(b.PayLate)/100
}
