package lab

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
)

// withLog adds the end of a process's log to an error: the log itself goes with the
// lab's folder.
func withLog(err error, file string) error {
	text, _ := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Errorf("%w; its log ends:\n    %s", err, strings.Join(lines[max(0, len(lines)-20):], "\n    "))
}

// Ports are below the range of outgoing connections. Otherwise a client that
// redials a server that is down may get that server's port for its own end and
// connect to itself, and the server could not come back.
const (
	lowestPort  = 10000
	highestPort = 32767
)

// freePorts finds n ports of 127.0.0.1. Until it stops, the lab has a UDP socket of each
// number: two labs do not take the same, also while a server is not there yet, or down.
func (l *Lab) freePorts(n int) (found []int, err error) {
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		kept, err := net.ListenPacket("udp", addr)
		if err != nil {
			continue
		}
		free, err := net.Listen("tcp", addr)
		if err != nil {
			kept.Close()
			continue
		}
		free.Close()
		l.mu.Lock()
		l.closers = append(l.closers, kept.Close)
		l.mu.Unlock()
		if found = append(found, port); len(found) == n {
			return found, nil
		}
	}
	return nil, fmt.Errorf("no free port on 127.0.0.1 between %d and %d: may this program listen at all?",
		lowestPort, highestPort)
}

// port is that of an address.
func port(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }
