package main

import (
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
	fmt.Fprintln(t, "NAME\tFAMILY\tNEEDS\tSELLS WRONGLY\tTITLE")
	for _, i := range strategies.All() {
		var needs []string
		for _, n := range i.Needs {
			needs = append(needs, string(n))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", i.Name, i.Family, strings.Join(needs, " "), sellsWrongly(i), i.TitleIn("en"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "\n%s: with a fault, a second process or the last units; docs/guarantees.md and the page say which.\n", sometimes)
	return err
}

const sometimes = "sometimes"

// sellsWrongly is when a strategy does so. That buyers of other SKUs wait is no matter
// of the stock, and the loss of a whole server is left out.
func sellsWrongly(i catalog.Info) string {
	if i.Broken() {
		return "by itself"
	}
	for q, said := range i.Guarantees {
		if said == catalog.Breaks && q != catalog.OtherSKUs && q != catalog.NodeLoss {
			return sometimes
		}
	}
	return ""
}

// strategyNamed finds what a flag names.
func strategyNamed(flag, name string) (catalog.Info, error) {
	info := strategies.Named(name)
	if info.Name == "" {
		return info, fmt.Errorf("%s: there is no strategy %q; seckill strategies lists them", flag, name)
	}
	return info, nil
}

// chosenStrategies are those that --strategies names; "all" is all of them.
func chosenStrategies(named []string) ([]catalog.Info, error) {
	if slices.Equal(named, []string{"all"}) {
		return strategies.All(), nil
	}
	for _, name := range named { // pick would list them all
		if _, err := strategyNamed("--strategies", name); err != nil {
			return nil, err
		}
	}
	return pick("--strategies", named, strategies.All(), nameOf)
}

func nameOf(i catalog.Info) string { return i.Name }

// pick finds those of all that a flag names, in that order.
func pick[T any](flag string, named []string, all []T, nameOf func(T) string) (chosen []T, err error) {
	for n, name := range named {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(all, func(one T) bool { return nameOf(one) == name })
		switch {
		case i < 0:
			var known []string
			for _, one := range all {
				known = append(known, nameOf(one))
			}
			return nil, fmt.Errorf("%s: there is no %q; there are: %s", flag, name, strings.Join(known, ", "))
		case slices.Contains(named[:n], name):
			return nil, fmt.Errorf("%s names %s twice", flag, name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
