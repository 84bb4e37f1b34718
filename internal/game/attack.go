package game

import (
	"context"
	"fmt"
	"slices"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/fault"
)

// AttackLimit bounds one attack that a player waits for.
const AttackLimit = 45 * time.Second

// An Attack is the explorer's, on the choice of a player.
type Attack struct {
	ID      string `json:"id"`
	Defence string `json:"defence"`
	Choice  string `json:"choice"`
	// State is "waits" (others attack), "searches", "broken", "held", "undecided" (the
	// time was up before every schedule within the bounds was run), or "failed" (a
	// server did not do what was asked for; the log has its words).
	State string `json:"state"`
	// Schedules is how many were run so far.
	Schedules int `json:"schedules"`
	// Preemptions bound the attack: at most so many turns are taken away; -1: any
	// number.
	Preemptions int     `json:"preemptions"`
	Seconds     float64 `json:"seconds"`
	// Schedule breaks it: begin a game with it to see how. "" unless State is
	// "broken".
	Schedule string `json:"schedule,omitempty"`
	Moves    int    `json:"moves,omitempty"`
	Switches int    `json:"switches,omitempty"`
	// Rules that it breaks; never null.
	Rules []string `json:"rules"`
	// Why it breaks or holds, by language; nil until it is over.
	Why map[string]string `json:"why,omitempty"`
}

// States of an attack.
const (
	AttackWaits     = "waits"
	AttackSearches  = "searches"
	AttackBroken    = "broken"
	AttackHeld      = "held"
	AttackUndecided = "undecided"
	AttackFailed    = "failed"
)

// Over reports whether the attack has ended.
func (a Attack) Over() bool { return a.State != AttackWaits && a.State != AttackSearches }

// AttackChoice has the explorer attack a choice, and returns when that is over. The
// error is the servers'.
func AttackChoice(ctx context.Context, servers backend.Config, all []catalog.Info, p *Post, choice string) (Attack, error) {
	i := slices.IndexFunc(all, func(i catalog.Info) bool { return i.Name == p.Variant(choice) })
	if i < 0 {
		return Attack{}, fmt.Errorf("there is no variant %q", p.Variant(choice))
	}
	if why := Missing(servers, all[i]); why != nil {
		return Attack{}, &Mistake{StrategyUnavailable, fmt.Sprintf("%s cannot be attacked here: %s.", p.Name, why[0])}
	}
	return attackChoice(ctx, servers, all[i], p, choice, p.limits(AttackLimit))
}

func attackChoice(ctx context.Context, servers backend.Config, info catalog.Info, p *Post, choice string, limits explore.Limits) (Attack, error) {
	a := Attack{Defence: p.Name, Choice: choice, Preemptions: p.Preemptions, State: AttackHeld, Rules: []string{}}
	begun := time.Now()
	h, err := searchFor(ctx, servers, info, p.On(choice), p.Breaks, limits)
	a.Seconds, a.Schedules = time.Since(begun).Seconds(), h.schedules
	if err != nil {
		return a, err
	}
	switch {
	case h.found == nil && !h.complete:
		a.State = AttackUndecided
	case h.found != nil:
		a.State = AttackBroken
		a.Schedule, a.Moves, a.Switches, a.Rules = schedule(h.found), len(h.found), h.switches, h.rules
	}
	if a.State != AttackUndecided && (a.State == AttackHeld) == p.Holds(choice) {
		a.Why = p.variants[choice].why
	}
	return a, nil
}

// A hunt is a search for a schedule that breaks a rule.
type hunt struct {
	schedules int
	complete  bool // none is left within the bounds
	cut       int
	// found and its switches; nil: none breaks.
	found    []explore.Choice
	switches int
	rules    []string
}

// searchFor runs the schedules of a setting within the limits, until one breaks a rule,
// which it shortens. It has a database of its own.
func searchFor(ctx context.Context, servers backend.Config, info catalog.Info, s Setting, breaks []string, l explore.Limits) (h hunt, err error) {
	p, err := openPlace(ctx, servers, info, nil)
	if err != nil {
		return h, err
	}
	defer func() {
		if left := p.leave(ctx); err == nil {
			err = left
		}
	}()
	l.Stop = func(rule string) bool { return slices.Contains(breaks, rule) }
	scenario := s.scenario("a search")
	res, err := p.world.Search(ctx, scenario, l)
	if err != nil {
		return h, err
	}
	h.schedules, h.cut = res.Schedules, res.Cut
	h.complete = res.Exhausted() || l.Preemptions >= 0 && res.Preemptions >= l.Preemptions
	if res.First == nil {
		return h, nil
	}
	shortest, err := p.world.Shorten(ctx, res.First, l.Stop)
	if err != nil {
		return h, err
	}
	for _, problem := range shortest.Problems {
		if !slices.Contains(h.rules, problem.Rule) {
			h.rules = append(h.rules, problem.Rule)
		}
	}
	view, found, err := p.byHand(ctx, scenario, shortest.Choices())
	h.found, h.switches = found, view.Preemptions
	return h, err
}

// byHand is the schedule of the explorer's choices, with the moves that come by
// themselves there, and how it ends.
func (p *place) byHand(ctx context.Context, s *explore.Scenario, choices []explore.Choice) (view explore.View, made []explore.Choice, err error) {
	live, view, err := p.world.Begin(ctx, s)
	if err != nil {
		return view, nil, err
	}
	defer live.End()
	for view.Schedule == nil && len(made) < longest {
		next := view.Options[0].Choice
		if len(choices) > 0 && next.Fault != fault.TimePasses {
			next, choices = choices[0], choices[1:]
		}
		if view, err = live.Choose(ctx, next); err != nil {
			return view, made, fmt.Errorf("play the explorer's schedule: %w", err)
		}
		made = append(made, next)
	}
	return view, made, nil
}

// limits of an attack.
func (p *Post) limits(d time.Duration) explore.Limits {
	return explore.Limits{Preemptions: p.Preemptions, Reduce: p.Preemptions < 0, Time: d}
}
