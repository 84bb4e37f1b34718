package lab

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// folderPattern is how labs call their folders, which they lock as long as they live.
const folderPattern = "seckill-lab-*"

// makeFolder makes a lab's folder in base, and removes those there whose labs died.
func makeFolder(base string) (path string, lock *os.File, err error) {
	left, _ := filepath.Glob(filepath.Join(base, folderPattern))
	for _, path := range left {
		if _, err := strconv.ParseUint(path[strings.LastIndexByte(path, '-')+1:], 10, 32); err != nil || !isOurs(path) {
			continue // not a lab's, such as a copy that the user made; another user's pipe must not even be opened
		}
		if lock := lockFolder(path); lock != nil {
			os.RemoveAll(path)
			lock.Close()
		}
	}
	for range 10 {
		if path, err = os.MkdirTemp(base, folderPattern); err != nil {
			return "", nil, err
		}
		if lock := lockFolder(path); lock != nil {
			return path, lock, nil
		}
		_ = os.Remove(path) // another lab took it for one whose lab had died
	}
	return "", nil, fmt.Errorf("a folder in %s cannot be locked", base)
}

// withLog adds the end of a process's log to an error: the log itself goes with the
// lab's folder.
func withLog(err error, file string) error {
	text, readErr := os.ReadFile(file)
	if readErr != nil {
		return fmt.Errorf("%w (and its log cannot be read: %w)", err, readErr)
	}
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
