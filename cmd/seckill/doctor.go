package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab"
	"seckill/strategies"
)

// DoctorCmd lists the servers that this machine has, and how to get the others.
type DoctorCmd struct {
	Ready string         `placeholder:"URL" help:"Check only that the page or service at this URL can sell."`
	Given backend.Config `embed:""`
}

// Validate returns an error if the address of the page is not a URL.
func (d DoctorCmd) Validate() error {
	if u, err := url.Parse(d.Ready); d.Ready != "" && (err != nil || u.Host == "") {
		return fmt.Errorf("--ready: %q is not a URL such as http://127.0.0.1:8080", d.Ready)
	}
	return nil
}

// Run only prints and changes nothing. A missing server is not an error, because the lab has embedded engines
// instead.
func (d DoctorCmd) Run(ctx context.Context, stdout io.Writer) error {
	if d.Ready != "" {
		// A page does not answer while its servers are still starting. Then this call ends after the timeout,
		// and the page counts as not ready.
		ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
		defer cancel()
		return lab.AskReady(ctx, d.Ready)
	}
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
		advice = append(advice,
			fmt.Sprintf("%s: run deploy/deps.sh in the source of this program, or %s.", p.Name, p.ByHand))
	}
	if slices.ContainsFunc(backend.Kinds, func(k backend.Kind) bool { return len(k.In(d.Given)) > 0 }) {
		advice = []string{"Servers were given: a lab starts the others only."}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, text := range advice {
		fmt.Fprintf(stdout, "\n%s\n", text)
	}
	return d.askServers(ctx, stdout)
}

// askServers prints which strategies cannot run on the servers that the user has given, for example because
// the program's account lacks a right. It returns an error if a server cannot be used.
func (d DoctorCmd) askServers(ctx context.Context, stdout io.Writer) error {
	d.Given.CreateNothing = true
	in, err := backend.Open(ctx, d.Given)
	if err != nil {
		return err
	}
	for need, why := range in.Lacks {
		fmt.Fprintf(stdout, "\n%s cannot run: %s.\n", strings.Join(catalog.Needing(strategies.All(), need), ", "), why)
	}
	return in.Close()
}
