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
	Name string `json:"name"`
	URL  string `json:"url"`
	Up   bool   `json:"up"`
	// Paused processes keep their sockets open and do not answer.
	Paused bool   `json:"paused,omitempty"`
	Error  string `json:"error,omitempty"` // how it ended, and where its log is
}

// StartServices starts n more service processes on the lab's backends and waits
// until they are ready. args go to `seckill serve`.
func (l *Lab) StartServices(ctx context.Context, n int, args ...string) error {
	there := len(l.ServiceProcesses())
	_, err := l.launchServers(ctx, n, 1, func(i int, _ [][]int) server { return l.serverOfService(serviceName(there+i+1), args) })
	return err
}

const serviceFormat = "service-%d"

func serviceName(i int) string { return fmt.Sprintf(serviceFormat, i) }

func (l *Lab) serverOfService(name string, args []string) server {
	return server{
		name: name,
		command: func(ports []int) (*exec.Cmd, error) {
			c, err := l.linkedConfig(name)
			cmd := exec.Command(l.executable, append([]string{"serve", "--addr", fmt.Sprintf("127.0.0.1:%d", ports[0])}, args...)...)
			cmd.Env = slices.Concat(l.serviceEnv(c, l.options.Host.Environ),
				[]string{"SECKILL_FAULT_POINTS=true"}, l.ownDatabase(name))
			return cmd, err
		},
		check: func(ctx context.Context, addr string) (string, error) {
			return "", AskReady(ctx, "http://"+addr)
		},
	}
}

// client keeps no connection open: a server that stops would wait for it.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// AskReady asks a service, or a lab's page, at a URL whether it can sell. It is an error that
// it cannot, or does not answer.
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

// serviceEnv is ours with the lab's backends and token instead of its own. The
// token is not an argument, since every user can read those.
func (l *Lab) serviceEnv(c backend.Config, ours []string) []string {
	lab := environmentOf(c)
	lab["SECKILL_TOKEN"] = l.Token()
	return append(slices.DeleteFunc(slices.Clone(ours), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, replaced := lab[name]
		return replaced
	}), environmentLines(lab)...)
}

// ownDatabase has each service process write at another node of a database that is
// several.
func (l *Lab) ownDatabase(service string) []string {
	e := l.Group(backend.NameMySQL)
	if e == nil {
		return nil
	}
	n := 1
	_, _ = fmt.Sscanf(service, serviceFormat, &n)
	return []string{"SECKILL_MYSQL_DSN=" + e.Config(backend.Config{}, e.Nodes[(n-1)%len(e.Nodes)]).MySQLDSN}
}

// environmentOf is a configuration as `seckill serve` reads it. Variables of
// backends that are not configured are empty.
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

// Services are the service processes in the order of their start.
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

// ServiceProcesses are the processes of Services.
func (l *Lab) ServiceProcesses() (list []*Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.processes {
		if p.server.backend == "" {
			list = append(list, p)
		}
	}
	return list
}

// ServiceSettings are the settings of service processes that can be changed while
// the lab runs. Times are in milliseconds.
type ServiceSettings struct {
	Services int `json:"services"` // how many processes
	Lease    int `json:"lease_ms"` // how long a lock lives unrenewed
	Wait     int `json:"wait_ms"`  // how long a buyer waits for a lock
	Poll     int `json:"poll_ms"`  // about how long a polling lock pauses
}

// serveArgs are those of `seckill serve`.
func (s ServiceSettings) serveArgs() []string {
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
// If it fails, none runs, and the next call starts all of them anew.
func (l *Lab) Serve(ctx context.Context, s ServiceSettings) error {
	l.mu.Lock()
	anew := s != l.serving
	l.mu.Unlock()
	if err := l.startServices(ctx, s, anew); err != nil {
		killAll(l.ServiceProcesses()) // some may run with others
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serving = s
	return nil
}

// startServices starts missing processes, and if anew is set, restarts the others.
func (l *Lab) startServices(ctx context.Context, s ServiceSettings, anew bool) error {
	args := append(slices.Clone(l.options.ServiceArgs), s.serveArgs()...)
	if l.options.Given.MySQLDSN != "" {
		args = append(args, "--mysql-conns", strconv.Itoa(max(2, givenConnections/(poolsOfService*s.Services))))
	}
	there := l.ServiceProcesses()
	keep := min(len(there), s.Services)
	together, starting := errgroup.WithContext(ctx)
	for _, p := range there[keep:] {
		together.Go(func() error { return p.Terminate(starting) })
	}
	for _, p := range there[:keep] {
		if !anew && p.Alive() {
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

	// givenConnections are those of a database that was given which the services
	// share: MySQL and MariaDB accept 151 by default.
	givenConnections = 112
)
