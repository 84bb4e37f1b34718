package labapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
)

// smallBuffers accepts connections and gives them small buffers.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		c.(*net.TCPConn).SetWriteBuffer(4096)
	}
	return c, err
}

// openStream sends a request for the event stream, and reads the header of the answer.
func openStream(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn := labtest.Value(net.Dial("tcp", addr)).Must(t)
	t.Cleanup(func() { conn.Close() })
	conn.(*net.TCPConn).SetReadBuffer(4096)
	fmt.Fprintf(conn, "GET /api/lab/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	head := labtest.Value(http.ReadResponse(bufio.NewReader(conn), nil)).Must(t)
	if head.StatusCode != http.StatusOK {
		t.Fatalf("a page is told %s", head.Status)
	}
	return conn
}

// Open pages do not delay the end of the lab, even if a page reads nothing.
func TestOpenPagesAndTheEnd(t *testing.T) {
	s, _, _ := start(t, nil)
	l := labtest.Value(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	server, addr := s.HTTP(), l.Addr().String()
	go server.Serve(smallBuffers{l})
	s.runs.addEntry(&entry[Run]{value: Run{Record: Record{ID: "big", State: Done}, Error: strings.Repeat("x", 1<<20)}})
	stuck := openStream(t, addr)
	for range 5 {
		go io.Copy(io.Discard, openStream(t, addr))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*writeTimeout) // this is long, because the machine may be busy
	defer cancel()
	labtest.Check(t, server.Shutdown(ctx), nil, "the end of the server")
	if n, _ := io.Copy(io.Discard, stuck); n >= 1<<20 { // the server must have cut the stream before its end
		t.Errorf("who reads nothing was sent all of %d bytes", n)
	}
}
