package lab

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
)

// Ports are below the range of outgoing connections. Otherwise a client that
// redials a server that is down may get that server's port for its own end and
// connect to itself, and the server could not come back.
const (
	lowestPort  = 10000
	highestPort = 32767
)

// ports remembers what it returned, since a server binds its port later.
type ports struct {
	mu    sync.Mutex
	given map[int]bool
}

// free finds n ports of 127.0.0.1 that are not in use.
func (p *ports) free(n int) ([]int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.given == nil {
		p.given = map[int]bool{}
	}
	var found []int
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		if p.given[port] || taken(port) {
			continue
		}
		p.given[port] = true
		if found = append(found, port); len(found) == n {
			return found, nil
		}
	}
	return nil, fmt.Errorf("no free port on 127.0.0.1 between %d and %d: may this program listen at all?",
		lowestPort, highestPort)
}

// port is that of an address.
func port(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }

func taken(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return true
	}
	l.Close()
	return false
}

func anyTaken(ports []int) bool {
	for _, port := range ports {
		if taken(port) {
			return true
		}
	}
	return false
}
