package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/fault"
	"seckill/internal/game"
	"seckill/internal/lab"
	"seckill/internal/labapi"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tables"
	"seckill/loadtest"
	"seckill/loadtest/compare"
	"seckill/strategies"
	"seckill/web"
)

// UpCmd runs the lab: servers, service processes and the page.
type UpCmd struct {
	HelpAll  helpAll `help:"${HelpAll}"`
	Addr     string  `default:"127.0.0.1:8080" env:"SECKILL_PAGE_ADDR" help:"Address of the page. Port 0: a free one."`
	Services int     `default:"2" help:"Number of service processes."`
	Strategy string  `default:"conditional" env:"SECKILL_STRATEGY" help:"Strategy of purchases that name none."`
	Embedded bool    `help:"Use the embedded engines even where servers are installed."`
	History  *string `env:"SECKILL_HISTORY" placeholder:"DIR" help:"${History}"`
	Token    string  `env:"SECKILL_TOKEN" help:"${PageToken}"`

	catalog.LockTimes `group:"rare"`
	TopologyFlag
	Given backend.Config `embed:"" group:"rare"`
}

const (
	readyTimeout = time.Minute      // how long the servers may take to answer; the services may then take as long again
	closeTimeout = 15 * time.Second // how long runs and calls in progress may take to end
)

// Run starts everything, prints the addresses, and waits for Ctrl-C.
func (u *UpCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	// The address may be in use, so up listens before it starts anything.
	listener, err := net.Listen("tcp", u.Addr)
	if err != nil {
		return cannotListen("--addr", u.Addr, err)
	}
	defer listener.Close()
	u.warnUnfit(stderr, strategies.Named(u.Strategy))
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	api := labapi.New(labapi.Config{
		Page: web.Files(), Guarantees: web.Guarantees(), Strategies: strategies.All(),
		// The shop sells with naive by default, which oversells, so that visitors look for a better strategy.
		Strategy: "naive",
		History:  u.historyFolder(stderr), Addr: u.Addr, Token: u.Token, Version: buildVersion(), Log: log,
	})
	page := &pageServer{Server: api.HTTP(), api: api, url: u.pageURL(listener.Addr()), ended: make(chan error, 1)}
	go func() { page.ended <- page.Serve(listener) }()
	defer page.Close()
	fmt.Fprintf(stderr, "Starting …   (%s has the page already)\n", page.url)
	l, err := u.startLab(ctx, stderr)
	switch {
	case err != nil && ctx.Err() != nil:
		// If processes are still running, err names them.
		return fmt.Errorf("stopped before everything was up: %w", err)
	case err != nil:
		return err
	}
	err = u.servePage(ctx, l, page, stdout, stderr)
	fmt.Fprintln(stderr, "Stopping …")
	if err := errors.Join(err, stopLab(l)); err != nil {
		return err
	}
	fmt.Fprintln(stderr, "Everything has stopped; nothing is left behind.")
	return nil
}

// Validate checks the flags before anything is started.
func (u *UpCmd) Validate() error {
	if err := checkAddr(u.Addr); err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(u.Addr)
	ip := net.ParseIP(host)
	isLocal := host == "localhost" || ip != nil && ip.IsLoopback()
	switch {
	case u.Services < 1 || u.Services > lab.MaxServices:
		return fmt.Errorf("--services %d: give 1 to %d", u.Services, lab.MaxServices)
	case u.Token == "" && !isLocal:
		return fmt.Errorf("--addr %s lets other machines in: set --token (or SECKILL_TOKEN) as well, "+
			"which they then need to change anything", u.Addr)
	}
	chosen, err := strategyNamed("--strategy", u.Strategy)
	if err != nil {
		return err
	}
	u.Strategy = chosen.Name
	err = errors.Join(u.Given.Check(), checkToken(u.Token), checkLockTimes(u.LockTimes),
		u.checkTopology(u.Embedded, "--embedded starts no servers", u.Given))
	if err != nil {
		return err
	}
	if u.History == nil || *u.History == "" {
		return nil
	}
	// The folder is made last, so that a wrong command line makes no folder.
	if err := os.MkdirAll(*u.History, 0o700); err != nil {
		return fmt.Errorf("--history: %w", err)
	}
	if err := tryWriting(filepath.Join(*u.History, "run.json")); err != nil {
		return fmt.Errorf("--history: nothing could be kept there: %w", err)
	}
	return nil
}

// startLab starts the lab. If it fails, it stops the servers that it has started. If the stop
// fails as well, the error says so.
func (u *UpCmd) startLab(ctx context.Context, stderr stderrWriter) (*lab.Lab, error) {
	starting, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	l, err := lab.Start(starting, lab.Options{Host: thisHost(), Given: u.Given, Embedded: u.Embedded, Token: u.Token,
		Topology: u.Topology, ServiceArgs: []string{"--strategy", u.Strategy},
		OnWait: func(err error) {
			fmt.Fprintf(stderr, "Waiting, for %v at most:   %v\n", tables.Span(readyTimeout), err)
		}})
	if err != nil {
		return nil, err
	}
	ctx, cancel = context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err = l.Serve(ctx, serviceSettings(u.Services, u.LockTimes)); err == nil {
		// These sales let people try the service by hand.
		for _, sku := range []int64{1, seckill.ShopSKU} {
			err = errors.Join(err, loadtest.PutOnSale(ctx, l.Services()[0].URL, l.Token(), sku, 100))
		}
	}
	if err != nil {
		return nil, errors.Join(err, stopLab(l))
	}
	return l, nil
}

// A pageServer serves the page from the start of the program, even before the lab runs.
type pageServer struct {
	*http.Server
	api   *labapi.Server
	url   string
	ended chan error
}

func (u *UpCmd) servePage(ctx context.Context, l *lab.Lab, page *pageServer, stdout, stderr io.Writer) error {
	// The verdict must not rest on the services that are judged, so the ledger is read from the database directly.
	c := l.Config()
	c.MaxSQLConns = 4
	in, err := backend.Open(ctx, c)
	if err != nil {
		return err
	}
	defer in.Close()

	missing := func(i catalog.Info) []string { return i.Missing(in) }
	page.api.Open(labapi.Backing{
		Lab: fault.Lab{Lab: l}, Missing: missing, Load: loadtest.Run, Ledger: ledger.NewStore(in.DB),
		ServiceToken: l.Token(),
		Compare: func(ctx context.Context, chosen []catalog.Info, o compare.Options) *compare.Result {
			o.Sale.ServersTime, o.Servers = l.ServersTime, l.Config()
			return runComparison(ctx, chosen, o)
		},
		Trace: func(ctx context.Context, info catalog.Info, buyers int) (*explore.Trace, error) {
			return explore.RecordTrace(ctx, l.Config(), info, buyers)
		},
		Games: &game.Games{Servers: l.Config, Strategies: strategies.All(), Examples: web.Guarantees(),
			Missing: missing, Log: page.api.Log},
	})
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if err := page.api.Close(stopping); err != nil {
			fmt.Fprintln(stderr, err)
		}
		if page.Shutdown(stopping) != nil {
			fmt.Fprintln(stderr, "Requests that were still under way are cut off.")
		}
	}()

	clients, err := l.ClientsFile()
	if err != nil {
		return err
	}
	printTable(stdout, l, missing, clients, page.url, u.Token)
	select {
	case <-ctx.Done():
		return nil
	case err := <-page.ended:
		return err
	}
}

// pageURL returns the address with which a browser on this machine reaches the page.
func (u *UpCmd) pageURL(listening net.Addr) string {
	host, _, _ := net.SplitHostPort(u.Addr)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	_, port, _ := net.SplitHostPort(listening.String())
	return (&url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: "/"}).String()
}

// historyFolder returns the folder that keeps runs after the lab has ended. If there is no home folder, it
// prints a note and returns a History that keeps nothing.
func (u *UpCmd) historyFolder(stderr io.Writer) labapi.History {
	if u.History != nil {
		return labapi.History(*u.History)
	}
	data := os.Getenv("XDG_DATA_HOME")
	if home, err := os.UserHomeDir(); data == "" && err == nil {
		data = filepath.Join(home, ".local", "share")
	}
	if !filepath.IsAbs(data) {
		fmt.Fprintln(stderr, "There is no home folder: runs and comparisons are forgotten when the lab ends. "+
			"(--history DIR keeps them.)")
		return ""
	}
	return labapi.History(filepath.Join(data, "seckill"))
}

func printTable(out io.Writer, l *lab.Lab, missing func(catalog.Info) []string, clients, page, token string) {
	t := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "BACKEND\tTIER\tVERSION\tADDRESS")
	for _, b := range l.Backends() {
		if b.OK {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", b.Name, b.Tier, b.Version, b.Address)
		} else {
			fmt.Fprintf(t, "%s\t-\t-\t%s\n", b.Name, b.Error)
		}
	}
	for _, s := range l.Services() {
		fmt.Fprintf(t, "%s\tprivate\tseckill %s\t%s\n", s.Name, buildVersion(), s.URL)
	}
	t.Flush()
	lacking := map[string][]string{} // reason → names of the strategies that cannot run for this reason
	for _, i := range strategies.All() {
		if why := strings.Join(missing(i), "; "); why != "" {
			lacking[why] = append(lacking[why], i.Name)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(lacking)) {
		fmt.Fprintf(out, "\nNot available: %s: %s\n", strings.Join(lacking[why], ", "), why)
	}
	isOwn := func(b backend.Status) bool { return b.OK && b.Tier != backend.Given }
	hasServers := slices.ContainsFunc(l.Backends(), isOwn)
	// Mention the file for clients only if the lab has started a server or made a token. Otherwise the file
	// contains only addresses and a token that the user has given.
	if hasServers || token == "" {
		fmt.Fprintf(out, "\nFor mysql, redis-cli and other clients of your own:   . %s   "+
			"(addresses and passwords, for your eyes only)\n", clients)
	}
	fmt.Fprintf(out, "\nLogs: %s (until the lab is stopped)\n", l.Folder())
	if token != "" {
		page += "#token=" + url.QueryEscape(token)
	}
	end := "Ctrl-C stops everything"
	if !hasServers { // A lab without servers of its own may run in a container, which is stopped with SIGTERM.
		end = "Ctrl-C or SIGTERM stops the lab; the servers that were given go on"
	}
	fmt.Fprintf(out, "Page: %s   (%s)\n", page, end)
}
