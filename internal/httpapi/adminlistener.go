package httpapi

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// AdminSocket is the path in an address for ListenAdmin, which is unix:/path.
func AdminSocket(addr string) (path string, err error) {
	path, ok := strings.CutPrefix(addr, "unix:")
	if !ok || path == "" {
		return "", fmt.Errorf("%q is no path of a socket, such as unix:/run/seckill/admin.sock", addr)
	}
	return path, nil
}

// ListenAdmin listens on a socket of mode 0600, which no browser can reach. It replaces
// the socket of a process that has died. The umask is the whole process's, for the moment
// in which the socket is made: it is never open to others.
func ListenAdmin(addr string) (net.Listener, error) {
	path, err := AdminSocket(addr)
	if err != nil {
		return nil, err
	}
	switch old, err := os.Lstat(path); {
	case err == nil && old.Mode().Type() != os.ModeSocket:
		return nil, fmt.Errorf("%s is there already, and is no socket", path)
	case err == nil:
		if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
			conn.Close()
			return nil, fmt.Errorf("another process listens on %s", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	defer syscall.Umask(syscall.Umask(0o177))
	return net.Listen("unix", path)
}
