package lab

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
)

// A Service is one service process.
type Service struct {
	Name   string `json:"name"`
	URL    string `json:"url"`
	Up     bool   `json:"up"`
	Paused bool   `json:"paused,omitempty"`
	Error  string `json:"error,omitempty"` // how the process ended, and where its log is
}

// StartServices starts n more service processes on the lab's backends and waits until they are ready. Their command
// line is `seckill serve` with the arguments args.
func (l *Lab) StartServices(ctx context.Context, n int, args ...string) error {
	existing := len(l.ServiceProcesses())
	_, err := l.launchServers(ctx, n, 1, func(i int, _ [][]int) server {
		return l.serverOfService(serviceName(existing+i+1), args)
	})
	return err
}

const serviceFormat = "service-%d"

func serviceName(i int) string { return fmt.Sprintf(serviceFormat, i) }

func (l *Lab) serverOfService(name string, args []string) server {
	return server{
		name: name,
		command: func(ports []int) (*exec.Cmd, error) {
			c, err := l.configOf(name)
			addr := fmt.Sprintf("127.0.0.1:%d", ports[0])
			cmd := exec.Command(l.executable, append([]string{"serve", "--addr", addr}, args...)...)
			cmd.Env = l.serviceEnv(c)
			return cmd, err
		},
		ask: func(ctx context.Context, addr string) (string, bool, error) {
			return "", false, AskReady(ctx, "http://"+addr)
		},
	}
}

// client closes its connection after each answer, because a service that ends waits until connections are closed.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// AskReady asks a service, or a lab's page, whether it can sell. The error says why it cannot.
func AskReady(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(url, "/")+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	said, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s is not ready: %s %s", url, response.Status, bytes.TrimSpace(said))
	}
	return err
}

// serviceEnv returns the environment of a service process: this program's environment with the lab's backends and
// token. The token is not an argument, because every user of the machine can read arguments.
func (l *Lab) serviceEnv(c backend.Config) []string {
	lab := environmentOf(c)
	lab["SECKILL_TOKEN"], lab["SECKILL_FAULT_POINTS"] = l.Token(), "true"
	return append(slices.DeleteFunc(slices.Clone(l.options.Host.Environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, replaced := lab[name]
		return replaced
	}), environmentLines(lab)...)
}

// environmentOf returns the environment variables that make `seckill serve` use c. The variables of a backend that is
// not configured are empty.
func environmentOf(c backend.Config) map[string]string {
	var tiers []string
	for name, tier := range c.Tiers {
		tiers = append(tiers, name+"="+string(tier))
	}
	slices.Sort(tiers)
	env := c.Environment()
	env["SECKILL_TIERS"] = strings.Join(tiers, ",")
	return env
}

func environmentLines(env map[string]string) []string {
	var list []string
	for name, value := range env {
		if value != "" {
			list = append(list, name+"="+value)
		}
	}
	slices.Sort(list)
	return list
}

// Services returns the service processes in the order of their start.
func (l *Lab) Services() []Service {
	var list []Service
	for _, p := range l.ServiceProcesses() {
		s := Service{Name: p.Name, URL: "http://" + p.Addr, Up: p.Alive(), Paused: p.Paused()}
		if !s.Up {
			s.Error = "it ended with " + p.Ended() + "; its log is " + p.Log
		}
		list = append(list, s)
	}
	return list
}

// ServiceProcesses returns the processes of Services.
func (l *Lab) ServiceProcesses() []*Process {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []*Process
	for _, p := range l.processes {
		if p.server.backend == "" {
			list = append(list, p)
		}
	}
	return list
}

// ServiceSettings are the settings of the service processes that can change while the lab runs. Times are in
// milliseconds.
type ServiceSettings struct {
	Services int `json:"services"` // the number of processes
	Lease    int `json:"lease_ms"` // how long a lock lives unless it is renewed
	Wait     int `json:"wait_ms"`  // how long a buyer waits for a lock
	Poll     int `json:"poll_ms"`  // the average pause of a polling lock
}

// ServiceSettings returns the settings of the last successful call of Serve.
func (l *Lab) ServiceSettings() ServiceSettings {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.serving
}

// Serve runs service processes with these settings and waits until all of them are ready. Processes with these settings
// keep running. All other processes finish their purchases and restart with the same name and address. If Serve fails,
// no process runs, and the next call starts all of them. Only one call may run at a time.
func (l *Lab) Serve(ctx context.Context, s ServiceSettings) error {
	if err := l.startServices(ctx, s, s != l.ServiceSettings()); err != nil {
		killAll(l.ServiceProcesses()) // end all processes, because some may have the old settings
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serving = s
	return nil
}

// startServices starts missing processes and ends superfluous ones. With restartAll, it also restarts those that stay.
func (l *Lab) startServices(ctx context.Context, s ServiceSettings, restartAll bool) error {
	ms := func(n int) string { return fmt.Sprint(n, "ms") }
	args := append(slices.Clone(l.options.ServiceArgs),
		"--lock-lease", ms(s.Lease), "--lock-wait", ms(s.Wait), "--lock-poll", ms(s.Poll))
	if l.options.Given.MySQLDSN != "" {
		args = append(args, "--mysql-conns", strconv.Itoa(max(2, givenConnections/(poolsOfService*s.Services))))
	}
	existing := l.ServiceProcesses()
	keep := min(len(existing), s.Services)
	together, starting := errgroup.WithContext(ctx)
	for _, p := range existing[keep:] {
		together.Go(func() error { return p.Terminate(starting) })
	}
	for _, p := range existing[:keep] {
		if !restartAll && p.Alive() {
			continue
		}
		together.Go(func() error {
			l.mu.Lock()
			p.server = l.serverOfService(p.Name, args)
			l.mu.Unlock()
			return p.Restart(starting)
		})
	}
	together.Go(func() error { return l.StartServices(starting, s.Services-keep, args...) })
	err := together.Wait()
	l.mu.Lock()
	l.processes = slices.DeleteFunc(l.processes, func(p *Process) bool {
		return slices.Contains(existing[keep:], p) && !p.Alive()
	})
	l.mu.Unlock()
	return err
}

const (
	// MaxServices is the maximum number of service processes of a lab.
	MaxServices    = 16
	poolsOfService = 2
	connsOfPool    = 32
	// spareConnections is the number of database connections for the page, the judge, benchmarks and people.
	spareConnections = 1000

	maxConnections = MaxServices*poolsOfService*connsOfPool + spareConnections

	// givenConnections is the number of connections that all services together open to a database that the user has
	// given. By default, MySQL and MariaDB accept 151 connections.
	givenConnections = 112
)
