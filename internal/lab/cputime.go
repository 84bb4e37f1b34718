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
		if p.server.backend == "" { // a service process
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
