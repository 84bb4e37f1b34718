package labtest

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// hostile are ways to keep a service waiting.
var hostile = []string{
	"",                                // says nothing
	"GET / HTTP/1.1\r\nHost: x\r\nX:", // half a header
	"POST /api/v1/seckill HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{", // half a body
	"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",                     // reads no answer, and sends nothing more
	"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",                 // TLS where there is none
	strings.Repeat("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 20), // a pipeline, and reads nothing
}

// Besiege has so many hostile clients connect to an address, and again whenever they
// are cut off. It returns once each has connected; lift ends them.
func Besiege(ctx context.Context, addr string, clients int) (lift func()) {
	ctx, stop := context.WithCancel(ctx)
	var attacking, begun sync.WaitGroup
	begun.Add(clients)
	for i := range clients {
		attacking.Go(func() {
			first := sync.OnceFunc(begun.Done)
			defer first()
			for ctx.Err() == nil {
				c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
				if err != nil {
					continue
				}
				io.WriteString(c, hostile[i%len(hostile)])
				first()
				ended := context.AfterFunc(ctx, func() { c.Close() })
				dribble(c)
				ended()
				c.Close()
			}
		})
	}
	begun.Wait()
	return func() {
		stop()
		attacking.Wait()
	}
}

// dribble reads and sends a byte five times a second, until the service closes c.
func dribble(c net.Conn) {
	one := make([]byte, 1)
	for {
		c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		_, err := c.Read(one)
		if late, ok := err.(net.Error); err != nil && !(ok && late.Timeout()) {
			return
		}
		if _, err := io.WriteString(c, "x"); err != nil {
			return
		}
	}
}
