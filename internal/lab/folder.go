package lab

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A folder is the lab's own. Its lock is held as long as the supervisor lives.
type folder struct {
	path string
	lock *os.File
}

const (
	folderPattern = "seckill-lab-*"
	lockName      = "lock"
)

// makeFolder makes a folder in base, and removes those there whose labs died.
func makeFolder(base string) (*folder, error) {
	left, _ := filepath.Glob(filepath.Join(base, folderPattern))
	for _, path := range left {
		sweep(path)
	}
	for {
		path, err := os.MkdirTemp(base, folderPattern)
		if err != nil {
			return nil, err
		}
		lock, err := createLocked(filepath.Join(path, lockName))
		if err != nil {
			os.RemoveAll(path)
			return nil, err
		}
		if lock != nil {
			return &folder{path, lock}, nil
		}
	}
}

func (f *folder) remove() error {
	f.lock.Close()
	return os.RemoveAll(f.path)
}

// sweep removes a folder whose lab has ended. A folder without a lock file is
// being made; one that cannot be removed belongs to another user.
func sweep(path string) {
	lock := lockDead(filepath.Join(path, lockName))
	if lock == nil {
		return
	}
	os.RemoveAll(path)
	lock.Close()
}

// createLocked makes a file and locks it for as long as it is open. It returns
// nil if a sweep came between the two and removed the file as a dead lab's.
func createLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if tryLock(f) == nil && isStill(path, f) {
		return f, nil
	}
	f.Close()
	return nil, nil
}

// lockDead locks the file of a lab that has ended; nil if it still runs.
func lockDead(path string) *os.File {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	if tryLock(f) != nil {
		f.Close()
		return nil
	}
	return f
}

func isStill(path string, f *os.File) bool {
	named, err := os.Stat(path)
	if err != nil {
		return false
	}
	opened, err := f.Stat()
	return err == nil && os.SameFile(named, opened)
}

// withLog adds the end of a process's log to an error: the log itself goes with the
// lab's folder.
func withLog(err error, file string) error {
	text, readErr := os.ReadFile(file)
	if readErr != nil {
		return fmt.Errorf("%w (and its log cannot be read: %w)", err, readErr)
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return fmt.Errorf("%w; it logged nothing", err)
	}
	return fmt.Errorf("%w; its log ends:\n    %s", err, strings.Join(lastWords(string(text)), "\n    "))
}

var goStack = regexp.MustCompile(`(?m)^goroutine \d+ \[`)

// lastWords are the last lines without the stack traces of Go or Java, which do
// not help the user.
func lastWords(text string) []string {
	if stack := goStack.FindStringIndex(text); stack != nil {
		text = text[:stack[0]]
	}
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(text), "\n"), func(line string) bool {
		return strings.TrimSpace(line) == "" || strings.HasPrefix(line, "\tat ")
	})
	return lines[max(0, len(lines)-20):]
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
