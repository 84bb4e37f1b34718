package lab

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"
)

// ServiceSettings are the settings of service processes that can be changed while
// the lab runs. Times are in milliseconds.
type ServiceSettings struct {
	Services int `json:"services"` // how many processes
	Lease    int `json:"lease_ms"` // how long a lock lives unrenewed
	Wait     int `json:"wait_ms"`  // how long a buyer waits for a lock
	Poll     int `json:"poll_ms"`  // about how long a polling lock pauses
}

// args are those of `seckill serve`.
func (s ServiceSettings) args() []string {
	ms := func(n int) string { return fmt.Sprint(n, "ms") }
	return []string{"--lock-lease", ms(s.Lease), "--lock-wait", ms(s.Wait), "--lock-poll", ms(s.Poll)}
}

// ServiceSettings are those of the last Serve that succeeded.
func (l *Lab) ServiceSettings() ServiceSettings {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.serving
}

// Serve runs service processes with these settings and waits until all of them
// are ready. Processes that have these settings stay; others finish their
// purchases in flight and restart under the same name and address. Only one call
// may run at a time.
//
// If it fails, the processes run as before, unless the error says that they do
// not.
func (l *Lab) Serve(ctx context.Context, s ServiceSettings) error {
	before := l.ServiceSettings()
	err := l.serve(ctx, s, s != before)
	if err != nil && before.Services > 0 {
		restoring, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerLimit)
		defer cancel()
		if again := l.serve(restoring, before, s != before); again != nil {
			err = errors.Join(err, fmt.Errorf("nor could the service processes be started as they were before: %w", again))
		}
		return err
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.serving = s
	announced := l.announced
	l.mu.Unlock()
	if announced == nil {
		return nil
	}
	return l.Announce(*announced) // there may be more of them now
}

// serve starts missing processes, and if anew is set, restarts the others.
func (l *Lab) serve(ctx context.Context, s ServiceSettings, anew bool) error {
	args := append(slices.Clone(l.options.ServiceArgs), s.args()...)
	pool, err := l.poolSize(ctx, s.Services)
	if err != nil {
		return err
	}
	if pool > 0 {
		args = append(args, "--mysql-conns", strconv.Itoa(pool))
	}
	there := l.ServiceProcesses()
	keep := min(len(there), s.Services)
	together, starting := errgroup.WithContext(ctx)
	for _, p := range there[keep:] {
		together.Go(func() error { return p.endSurely(starting) })
	}
	for _, p := range there[:keep] {
		if !anew && p.Alive() {
			continue
		}
		together.Go(func() error {
			if err := p.endSurely(starting); err != nil {
				return err
			}
			l.mu.Lock()
			p.server = l.service(p.Name, args)
			l.mu.Unlock()
			return p.start(starting)
		})
	}
	together.Go(func() error { return l.launchServices(starting, keep, s.Services-keep, args) })
	err = together.Wait()
	l.mu.Lock()
	l.processes = slices.DeleteFunc(l.processes, func(p *Process) bool { return slices.Contains(there[keep:], p) && !p.Alive() })
	l.mu.Unlock()
	return err
}

const (
	// MostServices is how many service processes a lab may have.
	MostServices = 16
	// poolsOfService: a service process has two pools of connections.
	poolsOfService = 2
	connsOfPool    = 32
	// spareConnections are for the page, the judge, baselines, benchmarks and
	// the users' own clients.
	spareConnections = 1000

	maxConnections = MostServices*poolsOfService*connsOfPool + spareConnections
)

// poolSize is the size of a service's pool on a database that was given: three
// quarters of its connections are divided among the services' pools. 0 means the
// services' default.
func (l *Lab) poolSize(ctx context.Context, services int) (int, error) {
	dsn := l.options.Given.MySQLDSN
	if dsn == "" || services < 1 {
		return 0, nil
	}
	var all, ofUser int
	err := onMySQL(ctx, dsn, func(db *sql.DB) error {
		return db.QueryRowContext(ctx, "SELECT @@max_connections, @@max_user_connections").Scan(&all, &ofUser)
	})
	if err != nil {
		return 0, fmt.Errorf("ask the database how many connections it accepts: %w", err)
	}
	if ofUser > 0 {
		all = min(all, ofUser)
	}
	size := all * 3 / 4 / (services * poolsOfService)
	if size < 2 {
		return 0, fmt.Errorf("the database accepts %d connections, too few for %d service processes: "+
			"start fewer, or raise its max_connections", all, services)
	}
	return min(size, connsOfPool), nil
}
