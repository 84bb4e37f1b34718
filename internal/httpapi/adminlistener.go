package httpapi

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// CheckAdminAddr says what is wrong with an address for ListenAdmin; nil if
// nothing is.
func CheckAdminAddr(addr string) error {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		if path == "" {
			return errors.New("unix: needs a path, such as unix:/run/seckill/admin.sock")
		}
		return nil
	}
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return fmt.Errorf("%q is no address to listen on, such as 127.0.0.1:9081 or unix:/run/seckill/admin.sock: %w", addr, err)
	}
	if !tcp.IP.IsLoopback() {
		return fmt.Errorf("%s can be reached from other machines, and there admin calls need no token: "+
			"give an address of this machine alone, such as 127.0.0.1:9081, or a Unix socket", addr)
	}
	return nil
}

// ListenAdmin listens on host:port of this machine alone, or on unix:/path, a
// socket of mode 0600.
func ListenAdmin(addr string) (net.Listener, error) {
	if err := CheckAdminAddr(addr); err != nil {
		return nil, err
	}
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return listenUnix(path)
	}
	return net.Listen("tcp", addr)
}

// listenUnix replaces the socket of a process that has died. The umask is the whole
// process's, for the moment in which the socket is made: it is never open to others.
func listenUnix(path string) (net.Listener, error) {
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
