package backend

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// A Login is how an instance shows one kind of backend who it is, and whom it
// trusts there. It prints as nothing, so no log or error can show it.
type Login struct {
	User, Password string      // empty: those of the address
	TLS            *tls.Config // nil: not encrypted
}

func (Login) String() string   { return "(login)" }
func (Login) GoString() string { return "(login)" }

// or takes what a Login does not have from the address.
func (l Login) or(user, password string) (string, string) {
	if l.User != "" {
		user = l.User
	}
	if l.Password != "" {
		password = l.Password
	}
	return user, password
}

func orElse[T comparable](given, usual T) T {
	var none T
	if given == none {
		return usual
	}
	return given
}

func (in *Instance) dialTimeout() time.Duration {
	return orElse(in.Config.DialTimeout, usualDialTimeout)
}

// secure speaks TLS on a new connection to addr, and closes it on an error. The
// server's certificate must be for the host of addr. A nil config leaves the
// connection as it is.
func secure(ctx context.Context, c net.Conn, addr string, config *tls.Config) (net.Conn, error) {
	if config == nil {
		return c, nil
	}
	config = config.Clone()
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			host = addr
		}
		config.ServerName = host
	}
	t := tls.Client(c, config)
	if err := t.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return t, nil
}
