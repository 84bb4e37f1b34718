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
	"time"

	"seckill/internal/web"
)

// served runs a lab's own HTTP server, on connections that hold little.
func served(t *testing.T, change func(*Config)) (s *Server, server *http.Server, addr string) {
	t.Helper()
	s, _, _ = start(t, change)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	server = s.HTTPServer()
	go server.Serve(smallBuffers{l})
	t.Cleanup(func() { server.Close() })
	return s, server, l.Addr().String()
}

type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		c.(*net.TCPConn).SetWriteBuffer(4096)
	}
	return c, err
}

// openStream sends the request and reads the head of its answer.
func openStream(t *testing.T, addr string) (conn net.Conn, head *http.Response) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	conn.(*net.TCPConn).SetReadBuffer(4096)
	fmt.Fprintf(conn, "GET /api/lab/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	head, err = http.ReadResponse(bufio.NewReader(conn), nil)
	must(t, err)
	return conn, head
}

func shutsDownWithin(t *testing.T, server *http.Server, limit time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		t.Errorf("the server has not ended %v after it was asked to: %v", limit, err)
	}
}

// So many pages may be open and no more; who leaves makes room.
func TestManyIdleStreams(t *testing.T) {
	s, server, addr := served(t, nil)
	var conns []net.Conn
	for range maxStreams {
		conn, head := openStream(t, addr)
		if head.StatusCode != http.StatusOK {
			t.Fatalf("page %d is told %s", len(conns)+1, head.Status)
		}
		conns = append(conns, conn)
	}
	_, head := openStream(t, addr)
	body, _ := io.ReadAll(head.Body)
	if head.StatusCode != http.StatusServiceUnavailable || head.Header.Get("Retry-After") == "" ||
		head.Header.Get("Content-Type") != web.ProblemType || !strings.Contains(string(body), "too_many_streams") {
		t.Errorf("one page too many is told %s, %v, %s", head.Status, head.Header, body)
	}
	if status, _, _ := (call{method: "GET", path: "/api/lab/v1/status"}).do(t, "http://"+addr); status != http.StatusOK {
		t.Errorf("beside so many pages the status answers %d", status)
	}
	conns[0].Close()
	for again := 0; ; again++ { // the server sees it a little later
		if _, head := openStream(t, addr); head.StatusCode == http.StatusOK {
			break
		} else if again == 500 {
			t.Fatal("a page that was closed makes no room")
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.LabChanged()
	shutsDownWithin(t, server, 3*time.Second)
}

// stuck opens a page that reads nothing but the head of the answer to it.
func stuck(t *testing.T, s *Server, addr string) net.Conn {
	t.Helper()
	s.runs.begin(Run{Record: Record{ID: "big", State: Done}, Error: strings.Repeat("x", 8<<20)}, func() {})
	conn, _ := openStream(t, addr)
	return conn
}

func TestReaderThatNeverReadsIsCutOff(t *testing.T) {
	s, _, addr := served(t, nil)
	conn := stuck(t, s, addr)
	for begun := time.Now(); s.streams.Load() > 0; {
		if time.Since(begun) > 3*slowest {
			t.Fatal("it is waited for without an end")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n, _ := io.Copy(io.Discard, conn); n >= 8<<20 { // what was on its way, and the end
		t.Errorf("it was sent all of %d bytes", n)
	}
}

func TestLimitsOfThePagesServer(t *testing.T) {
	_, server, addr := served(t, nil)
	if server.WriteTimeout <= 0 || server.IdleTimeout <= 0 || server.ReadHeaderTimeout <= 0 || server.MaxHeaderBytes <= 0 {
		t.Errorf("the page's server waits without a limit: %+v", server)
	}
	request, _ := http.NewRequestWithContext(t.Context(), "GET", "http://"+addr+"/healthz", nil)
	request.Header.Set("X-Long", strings.Repeat("x", 100<<10))
	answer, err := http.DefaultClient.Do(request)
	must(t, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a header of 100 kB: %s", answer.Status)
	}
}
