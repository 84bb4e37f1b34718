package httpapi

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// listenUnix makes the socket in a folder that is closed to others and moves
// it to its place when its mode is right. A dead process's socket is replaced.
func listenUnix(path string) (net.Listener, error) {
	switch old, err := os.Lstat(path); {
	case err == nil && old.Mode().Type() != os.ModeSocket:
		return nil, fmt.Errorf("%s is there already, and is no socket", path)
	case err == nil:
		if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
			conn.Close()
			return nil, fmt.Errorf("another process listens on %s", path)
		}
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), ".s-*") // short: a socket's path has about 100 bytes
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	hidden := filepath.Join(folder, "s")
	l, err := net.Listen("unix", hidden)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(hidden, 0o600), os.Rename(hidden, path)); err != nil {
		l.Close()
		return nil, err
	}
	made, err := os.Lstat(path)
	if err != nil {
		l.Close()
		return nil, err
	}
	return &unixListener{Listener: l, remove: sync.OnceFunc(func() {
		if now, err := os.Lstat(path); err == nil && os.SameFile(made, now) {
			os.Remove(path)
		}
	})}, nil
}

type unixListener struct {
	net.Listener
	remove func()
}

func (l *unixListener) Close() error {
	l.remove()
	return l.Listener.Close()
}
