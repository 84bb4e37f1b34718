package bench

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"strconv"
	"sync/atomic"
)

// A wire counts commands where they are written to the connection, for clients
// without a hook for the tap.
type wire struct{ commands atomic.Uint64 }

func (w *wire) dial(network, addr string, request func() func([]byte) int) (net.Conn, error) {
	c, err := net.Dial(network, addr)
	if err != nil {
		return nil, err
	}
	return &counted{c, w, request()}, nil
}

func (w *wire) dialContext(
	ctx context.Context, d *net.Dialer, addr string, request func() func([]byte) int,
) (net.Conn, error) {
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &counted{c, w, request()}, nil
}

type counted struct {
	net.Conn
	wire    *wire
	request func([]byte) int
}

func (c *counted) Write(p []byte) (int, error) {
	c.wire.commands.Add(uint64(c.request(p)))
	return c.Conn.Write(p)
}

// zooKeeperRequests: the library writes each request at once. Length, number
// and operation have four bytes each.
func zooKeeperRequests() func([]byte) int {
	const ping, setWatches = 11, 101
	return func(p []byte) int {
		if len(p) < 12 {
			return 0
		}
		switch op := int32(binary.BigEndian.Uint32(p[8:])); {
		case op <= 0, op == ping, op >= setWatches: // the session's own
			return 0
		}
		return 1
	}
}

// redisRequests: a command is an array of strings, each preceded by its length,
// and may be cut anywhere.
func redisRequests() func([]byte) int {
	var line []byte
	var skip int
	return func(p []byte) (commands int) {
		for len(p) > 0 {
			if skip > 0 {
				n := min(skip, len(p))
				p, skip = p[n:], skip-n
				continue
			}
			part, rest, whole := bytes.Cut(p, []byte{'\n'})
			line, p = append(line, part...), rest
			if !whole {
				continue
			}
			switch {
			case bytes.HasPrefix(line, []byte("*")):
				commands++
			case bytes.HasPrefix(line, []byte("$")):
				n, _ := strconv.Atoi(string(bytes.TrimSpace(line[1:])))
				skip = n + len("\r\n")
			}
			line = line[:0]
		}
		return commands
	}
}
