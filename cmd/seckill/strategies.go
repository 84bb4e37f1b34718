package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"seckill/internal/catalog"
	"seckill/strategies"
)

// StrategiesCmd lists what --strategy can be.
type StrategiesCmd struct{}

func (StrategiesCmd) Run(stdout io.Writer) error {
	t := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tFAMILY\tNEEDS\t\tIN A WORD")
	for _, i := range strategies.All() {
		broken := ""
		if i.Broken() {
			broken = "broken"
		}
		var needs []string
		for _, n := range i.Needs {
			needs = append(needs, string(n))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", i.Name, i.Family, strings.Join(needs, " "), broken, i.Title)
	}
	return t.Flush()
}

// strategyNamed finds what a flag names.
func strategyNamed(flag, name string) (catalog.Info, error) {
	for _, i := range strategies.All() {
		if i.Name == name {
			return i, nil
		}
	}
	var near []string
	for _, known := range names() {
		if asked := strings.ToLower(strings.ReplaceAll(name, "_", "-")); asked != "" && strings.Contains(known, asked) {
			near = append(near, known)
		}
	}
	hint := "seckill strategies lists them"
	if len(near) > 0 {
		hint = "there are " + strings.Join(near, ", ")
	}
	return catalog.Info{}, fmt.Errorf("%s: there is no strategy %q; %s", flag, name, hint)
}

// chosenStrategies are those that --strategies names, in that order; "all" is
// all of them.
func chosenStrategies(named []string) (chosen []catalog.Info, err error) {
	if slices.Equal(named, []string{"all"}) {
		return strategies.All(), nil
	}
	for _, name := range named {
		info, err := strategyNamed("--strategies", name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(chosen, func(i catalog.Info) bool { return i.Name == name }) {
			return nil, fmt.Errorf("--strategies names %s twice", name)
		}
		chosen = append(chosen, info)
	}
	if len(chosen) == 0 {
		return nil, errors.New("--strategies names none: give all, or some by comma")
	}
	return chosen, nil
}

func names() (all []string) {
	for _, i := range strategies.All() {
		all = append(all, i.Name)
	}
	return all
}
