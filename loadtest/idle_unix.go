//go:build unix

package loadtest

import (
	"crypto/tls"
	"net"
	"syscall"
)

// hasEnded reports whether the other side has closed a connection on which
// nothing is expected, without waiting and without taking anything from it.
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
			ended = !isTLS // plain HTTP sends nothing unasked, TLS may send a ticket
		}
	})
	return ended || err != nil
}
