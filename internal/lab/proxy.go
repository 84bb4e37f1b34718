package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// proxyBackend marks a proxy among the processes: it is neither a service nor a
// server that a service uses.
const proxyBackend = "proxy"

// StartProxy starts HAProxy in front of service processes, host:port each, and waits
// until it forwards to one that is ready. It ends with the lab, or when its process
// is terminated.
func (l *Lab) StartProxy(ctx context.Context, services []string) (*Process, error) {
	program := NewSearch(l.options.Host.Getenv).Find(HAProxy)
	if !program.Found() {
		return nil, errors.New(program.Missing())
	}
	l.mu.Lock()
	l.proxies++
	name := fmt.Sprintf("haproxy-%d", l.proxies)
	l.mu.Unlock()
	p, err := l.launch(ctx, server{name: name, backend: proxyBackend, ports: 1,
		command: func(ports []int) (command, error) {
			file := filepath.Join(l.folder, name+".cfg")
			text := ProxyConfig(fmt.Sprintf("127.0.0.1:%d", ports[0]), services)
			return command{Env: l.serverEnv(), Dir: l.folder, Args: []string{program.Path, "-db", "-f", file}, Grace: finishing},
				os.WriteFile(file, []byte(text), 0o600)
		},
		check: func(ctx context.Context, addr string, _ int) (string, error) {
			return "HAProxy", checkReady(ctx, addr)
		},
	})
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.processes = append(l.processes, p)
	return p, nil
}

// ProxyConfig is the configuration of HAProxy in front of services: what the lab
// runs, and what deploy/haproxy has. A purchase whose connection breaks is sent again
// to another service, which its Idempotency-Key makes safe.
func ProxyConfig(bind string, services []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `global
  maxconn 4000

defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  # A service that shuts down closes idle connections: what was sent on one of them
  # goes to another service. Every purchase has an Idempotency-Key, so it counts once.
  option redispatch 1
  retries 5
  retry-on conn-failure empty-response
  # The service learns who the client is: give it --trust-proxy with this machine's address.
  option forwardfor

frontend buyers
  bind %s
  default_backend services

backend services
  balance leastconn
  option httpchk GET /readyz
  http-check expect status 200
  default-server check inter 250ms fall 2 rise 1 init-addr last,libc,none
`, bind)
	for i, s := range services {
		fmt.Fprintf(&b, "  server service-%d %s\n", i+1, s)
	}
	return b.String()
}
