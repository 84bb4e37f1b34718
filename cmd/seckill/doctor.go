package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"seckill/internal/lab"
)

// DoctorCmd says what is found, and what to do about the rest.
type DoctorCmd struct{}

// Run changes nothing. It succeeds whatever is missing: the lab has embedded
// engines.
func (DoctorCmd) Run(stdout io.Writer) error {
	var advice []string
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tWHAT\tWHERE\tFOR")
	search := lab.NewSearch(os.Getenv)
	for _, tool := range lab.ServerTools {
		p := search.Find(tool)
		if p.Found() {
			fmt.Fprintf(table, "ok\t%s\t%s\t%s\n", p.Name, p.Path, p.Use)
			continue
		}
		fmt.Fprintf(table, "--\t%s\t-\t%s\n", p.Name, p.Use)
		advice = append(advice, fmt.Sprintf("%s: run deploy/deps.sh in the source of this program, or %s.", p.Name, p.ByHand))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, text := range advice {
		fmt.Fprintf(stdout, "\n%s\n", text)
	}
	return nil
}
