package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
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

// DoctorCmd says what is found, and what to do about the rest.
type DoctorCmd struct {
	Ready string         `placeholder:"URL" help:"Ask only whether the page or the service at this address can sell; otherwise fail. For health checks."`
	Given backend.Config `embed:""`
}

// Run changes nothing. It succeeds whatever is missing: the lab has embedded
// engines.
func (d DoctorCmd) Run(ctx context.Context, stdout io.Writer) error {
	if d.Ready != "" {
		return askReady(ctx, d.Ready)
	}
	var advice []string
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tWHAT\tWHERE\tFOR")
	search := lab.NewSearch(os.Getenv)
	for _, tool := range lab.ServerTools {
		p := search.Find(tool)
		given := d.addresses(tool)
		switch {
		case given != "" && tool != lab.GaleraLibrary:
			fmt.Fprintf(table, "ok\t%s\tgiven: %s\t%s\n", p.Name, given, p.Use)
			continue
		case p.Found():
			fmt.Fprintf(table, "ok\t%s\t%s\t%s\n", p.Name, p.Path, p.Use)
			continue
		}
		fmt.Fprintf(table, "--\t%s\t-\t%s\n", p.Name, p.Use)
		if given != "" {
			continue // a lab starts no server of that kind
		}
		advice = append(advice, fmt.Sprintf("%s: run deploy/deps.sh in the source of this program, or %s.", p.Name, p.ByHand))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, text := range advice {
		fmt.Fprintf(stdout, "\n%s\n", text)
	}
	return d.askServers(ctx, stdout)
}

// addresses are those that were given of what the tool runs, without passwords.
func (d DoctorCmd) addresses(tool lab.Tool) string {
	name := map[lab.Tool]string{lab.MariaDB: backend.NameMySQL, lab.GaleraLibrary: backend.NameMySQL, lab.Redis: backend.NameRedis,
		lab.ZooKeeper: backend.NameZooKeeper, lab.Etcd: backend.NameEtcd}[tool]
	i := slices.Index(backend.Names(), name)
	return backend.Redact(strings.Join(backend.Kinds[i].In(d.Given), ","))
}

// askServers says what the servers that were given deny.
func (d DoctorCmd) askServers(ctx context.Context, stdout io.Writer) error {
	d.Given.CreateNothing = true
	in, err := backend.Open(ctx, d.Given)
	if err != nil {
		fmt.Fprintf(stdout, "\n%v\n", err)
		return nil
	}
	for need, why := range in.Lacks {
		fmt.Fprintf(stdout, "\n%s cannot run: %s.\n", strings.Join(catalog.Needing(strategies.All(), need), ", "), why)
	}
	return in.Close()
}

// readyWithin bounds the wait for an answer. A page that waits for its servers has none.
const readyWithin = 4 * time.Second

// askReady fails unless the page, or a service, says that all its backends answer.
func askReady(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(url, "/")+"/readyz", nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(answer.Body, 2000))
		return fmt.Errorf("%s is not ready: %s %s", url, answer.Status, said)
	}
	return nil
}
