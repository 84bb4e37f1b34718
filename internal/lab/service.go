package lab

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
)

// client keeps no connection open: a server that stops would wait for it.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// A Service is one service process.
type Service struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	Up   bool   `json:"up"`
	// Paused processes keep their sockets open and do not answer.
	Paused bool   `json:"paused,omitempty"`
	Error  string `json:"error,omitempty"` // how it ended, and where its log is
}

// finishing bounds how long a service completes the purchases in flight.
const finishing = 10 * time.Second

// StartServices starts n more service processes on the lab's backends and waits
// until they are ready. args go to `seckill serve`.
func (l *Lab) StartServices(ctx context.Context, n int, args ...string) error {
	return l.launchServices(ctx, len(l.Services()), n, args)
}

// launchServices starts n processes in addition to those there are.
func (l *Lab) launchServices(ctx context.Context, there, n int, args []string) error {
	begun := time.Now()
	processes, err := l.launch(ctx, n, 1, func(i int, _ [][]int) server { return l.service(serviceName(there+i+1), args) })
	for _, p := range processes {
		l.progress(p.Name, time.Since(begun))
	}
	return err
}

const serviceFormat = "service-%d"

func serviceName(i int) string { return fmt.Sprintf(serviceFormat, i) }

func (l *Lab) service(name string, args []string) server {
	return server{
		name: name,
		command: func(ports []int) (command, error) {
			c, err := l.linked(name)
			return command{
				Args: append([]string{l.options.Executable, "serve", "--addr", fmt.Sprintf("127.0.0.1:%d", ports[0])}, args...),
				Env: slices.Concat(l.serviceEnv(c, l.options.Host.Environ), l.options.Env,
					[]string{"SECKILL_ADMIN_ADDR=" + l.adminAddr(name), "SECKILL_FAULT_POINTS=true"}, l.ownDatabase(name)), Grace: finishing}, err
		},
		check: func(ctx context.Context, addr string, _ int) (string, error) { return "", checkReady(ctx, addr) },
	}
}

// serviceEnv is ours with the lab's backends and token instead of its own. The
// token is not an argument, since every user can read those.
func (l *Lab) serviceEnv(c backend.Config, ours []string) []string {
	lab := environment(c)
	lab["SECKILL_TOKEN"] = l.Token()
	for _, name := range guards {
		lab[name] = ""
	}
	return append(slices.DeleteFunc(slices.Clone(ours), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, replaced := lab[name]
		return replaced
	}), entries(lab)...)
}

// guards are variables of one `seckill serve` that must not reach all services
// of a lab.
var guards = []string{"SECKILL_TOKEN_FILE", "SECKILL_ADMIN_ADDR"}

// adminAddr is where a service takes admin calls and faults: a socket in the lab's
// folder, which only this user can reach.
func (l *Lab) adminAddr(service string) string {
	return "unix:" + filepath.Join(l.folder, service+".sock")
}

// AdminAddr is where a service process takes admin calls.
func (p *Process) AdminAddr() string { return p.lab.adminAddr(p.Name) }

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

// environment is a configuration as `seckill serve` reads it. Variables of
// backends that are not configured are empty.
func environment(c backend.Config) map[string]string {
	var tiers []string
	for name, tier := range c.Tiers {
		tiers = append(tiers, name+"="+string(tier))
	}
	slices.Sort(tiers)
	env := c.Environment()
	env["SECKILL_TIERS"] = strings.Join(tiers, ",")
	return env
}

func entries(env map[string]string) []string {
	var list []string
	for name, value := range env {
		if value != "" {
			list = append(list, name+"="+value)
		}
	}
	slices.Sort(list)
	return list
}

func checkReady(ctx context.Context, addr string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(response.Body, 500))
		return fmt.Errorf("/readyz says %s: %s", response.Status, strings.TrimSpace(string(said)))
	}
	return nil
}

// Services are the service processes in the order of their start.
func (l *Lab) Services() []Service {
	var list []Service
	for _, p := range l.ServiceProcesses() {
		list = append(list, p.asService())
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

func (p *Process) asService() Service {
	s := Service{Name: p.Name, URL: "http://" + p.Addr, Up: p.Alive(), Paused: p.Paused()}
	if !s.Up {
		s.Error = "it ended with " + p.Ended() + "; its log is " + p.Log
	}
	return s
}

// WhenServiceDies calls tell each time a service process ends unasked, and at
// once for those that have.
func (l *Lab) WhenServiceDies(tell func(Service)) {
	l.mu.Lock()
	l.died = tell
	l.mu.Unlock()
	for _, p := range l.ServiceProcesses() {
		if !p.Alive() && !p.current().asked.Load() {
			tell(p.asService())
		}
	}
}

func (l *Lab) awaitDeath(p *Process, run *running) {
	<-run.done
	l.mu.Lock()
	tell, stopped := l.died, l.stopped
	l.mu.Unlock()
	if tell != nil && !stopped && !run.asked.Load() {
		tell(p.asService())
	}
}
