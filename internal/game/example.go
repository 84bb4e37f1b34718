package game

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
)

var exampleName = regexp.MustCompile(`^[a-z0-9-]+\.[a-z0-9-]+$`)

// readExample reads a counterexample of the proof. The error is a *Mistake.
func readExample(files fs.FS, name string) (e explore.Example, err error) {
	unknown := &Mistake{UnknownExample, fmt.Sprintf("There is no counterexample %q: /api/lab/v1/guarantees/matrix.json names them, such as naive.oversell.", clip(name))}
	if files == nil || !exampleName.MatchString(name) {
		return e, unknown
	}
	f, err := files.Open(name + ".json")
	if err != nil {
		return e, unknown
	}
	defer f.Close()
	if e, err = explore.ReadExample(f); err != nil {
		return e, unknown
	}
	return e, nil
}

// ofExample is the setting of a counterexample. The error is a *Mistake that says
// what a game has not.
func ofExample(e explore.Example) (s Setting, err error) {
	cannot := func(why string) (Setting, error) {
		return s, &Mistake{Unplayable, "This counterexample cannot be played as a game: " + why + ". Its trace shows every step."}
	}
	from := e.Scenario
	s = Setting{Strategy: e.Strategy, Stock: from.Stock, MaxFaults: from.MaxFaults, Renewals: from.Renewals, Clears: from.Clears, Faults: []string{}}
	for _, f := range from.Faults {
		s.Faults = append(s.Faults, string(f))
	}
	for _, b := range from.Buyers {
		if b.Again > 0 {
			return cannot("its buyers send a request again")
		}
		s.Buyers = append(s.Buyers, Buyer{Name: b.Name, Quantity: max(1, b.Quantity), Does: string(b.Does), Process: b.Process,
			Same: b.Same, Other: b.Other})
	}
	if from.InLine || from.DiesFirst {
		return cannot("something happens in it before the first move")
	}
	if err := s.check(); err != nil {
		return cannot(err.Error())
	}
	return s, nil
}

// follow plays a counterexample once, and returns its moves as a game makes them.
// It must break what it broke; else the error is a *Mistake.
func follow(ctx context.Context, servers backend.Config, info catalog.Info, e explore.Example, s Setting) (line string, err error) {
	p, err := openPlace(ctx, servers, info, nil)
	if err != nil {
		return "", err
	}
	defer func() {
		if left := p.leave(ctx); err == nil {
			err = left
		}
	}()
	view, made, err := p.byHand(ctx, s.scenario("a counterexample"), e.Choices())
	if errors.Is(err, explore.ErrImpossible) || errors.Is(err, explore.ErrOver) {
		return "", &Mistake{Unplayable, "This counterexample cannot be played as a game: its steps do not fit the strategy as it is now. Its trace shows every step."}
	}
	if err != nil {
		return "", err
	}
	if view.Schedule == nil || !slices.ContainsFunc(view.Schedule.Problems, func(found explore.Problem) bool {
		return slices.ContainsFunc(e.Problems, func(p explore.Problem) bool { return p.Rule == found.Rule })
	}) {
		return "", &Mistake{Unplayable, "This counterexample cannot be played as a game: what it breaks shows only by a buyer who comes later. Its trace shows every step."}
	}
	return schedule(made), nil
}
