package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

// A place has the services to which a run sends its calls, and the database from which the run is judged.
type place struct {
	sale    loadtest.Config // has the targets, the token for admin calls to them, and the ledger
	sql     backend.Config  // the database from which the ledger is read
	closers []func()        // the functions that closeAll calls, the last one first
	lab     *lab.Lab        // the lab that was started for this run; nil if there is none
}

func (p *place) closeAll() {
	for _, f := range slices.Backward(p.closers) {
		f()
	}
}

// PlaceFlags are the flags for the services and servers of a sale.
type PlaceFlags struct {
	Token string `group:"rare" env:"SECKILL_TOKEN" placeholder:"TOKEN" help:"${Token}"`
	TopologyFlag
	// With --target, Given has the database from which the verdict is read. Without --target, the run starts
	// a lab. The lab uses the servers in Given, and starts the others itself.
	Given backend.Config `embed:"" group:"rare"`
}

func (f PlaceFlags) checkPlace(targets []string) error {
	err := errors.Join(f.Given.Check(), checkToken(f.Token),
		f.checkTopology(len(targets) > 0, "--target names services that run already", f.Given))
	if err == nil && len(targets) > 0 && f.Given.MySQLDSN == "" && f.Given.SQLitePath == "" {
		err = errors.New("the verdict is read from the services' database: give its --mysql-dsn (SECKILL_MYSQL_DSN) " +
			"or --sqlite-path (SECKILL_SQLITE_PATH)")
	}
	return err
}

// findPlace returns a place with the given targets. If there are no targets, it starts a lab for this run
// with the named servers. If servers is nil, the lab has all servers.
func (f PlaceFlags) findPlace(ctx context.Context, stderr io.Writer, targets, servers []string) (*place, error) {
	if len(targets) > 0 {
		p := &place{sale: loadtest.Config{Targets: targets, AdminToken: f.Token}, sql: f.Given}
		return p, p.openLedger(ctx)
	}
	fmt.Fprintln(stderr, "Starting a lab for this run. (--target names services that run already.)")
	return startPlace(ctx, stderr, serviceSettings(2, catalog.DefaultSettings().LockTimes),
		lab.Options{Host: thisHost(), Given: f.Given, Topology: f.Topology, Backends: servers})
}

func serviceSettings(n int, t catalog.LockTimes) lab.ServiceSettings {
	ms := func(d time.Duration) int { return int(d.Milliseconds()) }
	return lab.ServiceSettings{Services: n, Lease: ms(t.LockLease), Wait: ms(t.LockWait), Poll: ms(t.LockPoll)}
}

func serversFor(infos ...catalog.Info) []string {
	var needs []backend.Capability
	for _, i := range infos {
		needs = append(needs, i.Uses()...)
	}
	return backend.NamesOf(needs...)
}

// startPlace starts a lab and its service processes for one run. The caller stops them with place.closeAll.
func startPlace(ctx context.Context, stderr io.Writer, serving lab.ServiceSettings, o lab.Options) (*place, error) {
	own, err := lab.Start(ctx, o)
	if err != nil {
		return nil, notUp(ctx, stderr, fmt.Errorf("start a lab for this run: %w", err))
	}
	p := &place{lab: own, sql: own.Config(), closers: []func(){func() { endLab(stderr, own) }}}
	if err := own.Serve(ctx, serving); err != nil {
		p.closeAll()
		return nil, notUp(ctx, stderr, fmt.Errorf("start the lab's services: %w", err))
	}
	for _, s := range own.Services() {
		p.sale.Targets = append(p.sale.Targets, s.URL)
	}
	p.sale.AdminToken = own.Token()
	if err := p.openLedger(ctx); err != nil {
		p.closeAll()
		return nil, err
	}
	return p, nil
}

// notUp returns err, the error of a lab that did not start. If the program was interrupted, notUp prints err
// and returns an exit status instead. The printed error may name processes that are still running.
func notUp(ctx context.Context, stderr io.Writer, err error) error {
	if ctx.Err() == nil {
		return err
	}
	fmt.Fprintf(stderr, "Interrupted before the lab was up: %v\n", err)
	return exitStatus(loadtest.ExitNotValid)
}

// endLab stops a lab that was started for one command. It prints an error if processes are left.
func endLab(stderr io.Writer, l *lab.Lab) {
	if err := stopLab(l); err != nil {
		fmt.Fprintf(stderr, "seckill: stop the lab: %v\n", err)
	}
}

// stopLab stops a lab. If the stop takes more than 30 s, the error names the processes that are left.
func stopLab(l *lab.Lab) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return l.Stop(ctx)
}

func (p *place) openLedger(ctx context.Context) error {
	sql := backend.Config{MySQLDSN: p.sql.MySQLDSN, SQLitePath: p.sql.SQLitePath,
		Tuning: backend.Tuning{MaxSQLConns: 2}}
	if sql.SQLitePath != "" {
		if _, err := os.Stat(sql.SQLitePath); err != nil { // If the file is missing, backend.Open would create it.
			return fmt.Errorf("the ledger: %w", err)
		}
	}
	in, err := backend.Open(ctx, sql)
	if err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	p.closers = append(p.closers, func() { _ = in.Close() })
	p.sale.Ledger = ledger.NewStore(in.DB)
	return nil
}

// TopologyFlag is the flag that chooses how many servers of each kind a lab has.
type TopologyFlag struct {
	Topology string `default:"single" enum:"${Topologies}" env:"SECKILL_TOPOLOGY" help:"Servers of the lab: ${enum}."`
}

func (t TopologyFlag) warnUnfit(stderr io.Writer, chosen ...catalog.Info) {
	for _, info := range chosen {
		if why := info.Unfit(t.Topology); why != "" {
			fmt.Fprintf(stderr, "Warning: %s is not right with --topology %s: %s.\n", info.Name, t.Topology, why)
		}
	}
}

// checkTopology returns an error if --topology does not fit other flags. If noServers is true, the command
// starts no servers, and the parameter why gives the reason.
func (t TopologyFlag) checkTopology(noServers bool, why string, given backend.Config) error {
	if noServers && t.Topology != lab.Single {
		return fmt.Errorf("--topology %s needs a lab of its own, and %s: leave out one of them", t.Topology, why)
	}
	_, err := lab.CheckTopology(t.Topology, given)
	return err
}
