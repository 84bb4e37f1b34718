package loadtest

import (
	"crypto/tls"
	"net"
	"syscall"
	"time"
)

// hasEnded reports whether the other side has closed an idle connection, without
// waiting and without reading from it.
func hasEnded(conn net.Conn) (ended bool) {
	secure, isTLS := conn.(*tls.Conn)
	if isTLS {
		conn = secure.NetConn()
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case err == syscall.EAGAIN || err == syscall.EINTR:
		case err != nil || n == 0:
			ended = true
		default:
			ended = !isTLS // plain HTTP sends nothing unasked, TLS may send a session ticket
		}
	})
	return ended || err != nil
}

// cpuTime is the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
