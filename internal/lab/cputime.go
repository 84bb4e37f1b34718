package lab

import (
	"time"

	"seckill/internal/backend"
)

// ServersTime is the processor time that the private servers have used so far.
// It is not known if a backend runs elsewhere or inside this process, if a server
// has ended, and on systems other than Linux.
func (l *Lab) ServersTime() (sum time.Duration, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, status := range l.statuses {
		if status.OK && status.Tier != backend.Private {
			return 0, false
		}
	}
	for _, p := range l.processes {
		if p.server.backend == "" || p.server.backend == proxyBackend { // a service process, or before one
			continue
		}
		used, ok := processorTime(p.PID())
		if !ok {
			return 0, false
		}
		sum, known = sum+used, true
	}
	return sum, known
}

// Users of processor time besides backends, which have their own names.
const (
	UsedByServices = "services"
	UsedByProxies  = "proxies"
	// UsedByAll is what all processes of this machine used, also those of others.
	UsedByAll = "all"
)

// ProcessorTimes is the processor time used so far by the private servers of each
// backend, by the service processes and by the proxies. It counts processes that run:
// a process that ends between two calls takes its time with it. It is not known
// where ServersTime is not.
func (l *Lab) ProcessorTimes() (use map[string]time.Duration, known bool) {
	use = map[string]time.Duration{}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.processes {
		if !p.Alive() {
			continue
		}
		used, ok := processorTime(p.PID())
		if !ok {
			return nil, false
		}
		name := p.server.backend
		switch name {
		case "":
			name = UsedByServices
		case proxyBackend:
			name = UsedByProxies
		}
		use[name] += used
	}
	if all, ok := machineTime(); ok {
		use[UsedByAll] = all
	}
	return use, true
}
