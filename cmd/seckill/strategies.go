package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/tables"
	"seckill/strategies"
)

// StrategiesCmd lists the strategies.
type StrategiesCmd struct {
	Word string `arg:"" optional:"" help:"${Word}"`
}

func (c StrategiesCmd) Run(stdout io.Writer) error {
	found := slices.DeleteFunc(strategies.All(), func(i catalog.Info) bool { return !i.Matches(c.Word) })
	if c.Word == six {
		found, _ = chosenStrategies([]string{six})
	}
	if len(found) == 0 {
		return fmt.Errorf("no strategy is called %q; seckill strategies lists all.%s",
			c.Word, catalog.DidYouMean(strategies.All(), c.Word))
	}
	t := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tFAMILY\tNEEDS\tSELLS WRONGLY\tTITLE")
	for _, i := range found {
		needs := tables.Map(i.Needs, func(n backend.Capability) string { return string(n) })
		row := []string{i.Name, i.Family, strings.Join(needs, " "), sellsWrongly(i), i.TitleIn("en")}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "\nSELLS WRONGLY is empty if nothing that was tried breaks the strategy. %s: with a fault, "+
		"a second process or the last units; docs/guarantees.md says which.\n", sometimes)
	return err
}

const sometimes = "sometimes"

// sellsWrongly says in a few words when a strategy oversells or loses orders. It ignores two questions of the
// proof: the question other-skus is not about the stock, and the question node-loss stops servers.
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

func strategyNamed(flag, name string) (catalog.Info, error) {
	info, found := catalog.Find(strategies.All(), name)
	if !found {
		return info, fmt.Errorf("%s: there is no strategy %q; seckill strategies lists them.%s",
			flag, name, catalog.DidYouMean(strategies.All(), name))
	}
	return info, nil
}

const six = "six"

// chosenStrategies returns the strategies that --strategies names. The name "six" means catalog.SixWays.
func chosenStrategies(named []string) ([]catalog.Info, error) {
	switch {
	case slices.Equal(named, []string{"all"}):
		return strategies.All(), nil
	case slices.Equal(named, []string{six}):
		named = catalog.SixWays
	}
	var chosen []catalog.Info
	for _, name := range named {
		info, err := strategyNamed("--strategies", name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(chosen, func(i catalog.Info) bool { return i.Name == info.Name }) {
			return nil, fmt.Errorf("--strategies names %s twice", info.Name)
		}
		chosen = append(chosen, info)
	}
	return chosen, nil
}

func nameOf(i catalog.Info) string { return i.Name }

// checkNames returns an error if a name that was chosen is unknown or occurs twice. It trims the names in chosen.
func checkNames(flag string, chosen, known []string) error {
	for i, name := range chosen {
		name = strings.TrimSpace(name)
		chosen[i] = name
		switch {
		case !slices.Contains(known, name):
			return fmt.Errorf("%s: there is no %q; there are: %s", flag, name, strings.Join(known, ", "))
		case slices.Contains(chosen[:i], name):
			return fmt.Errorf("%s names %s twice", flag, name)
		}
	}
	return nil
}
