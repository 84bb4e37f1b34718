package web

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"
)

// bounded serves h behind bounds.
func bounded(t *testing.T, c *Conns, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewUnstartedServer(c.Handler(h))
	s.Listener = c.Listen(s.Listener)
	s.Config.ConnContext = c.Context
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func dial(t *testing.T, addr, send string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, send); err != nil {
		t.Fatal(err)
	}
	return c
}

// closed waits until the server has closed c.
func closed(t *testing.T, what string, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if answer, err := io.ReadAll(c); err != nil && strings.Contains(err.Error(), "timeout") || len(answer) > 0 {
		t.Errorf("%s: the server has not closed it: %q, %v", what, answer, err)
	}
}

func answered(t *testing.T, what string, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	io.Copy(io.Discard, r.Body)
	r.Body.Close()
}

const (
	get  = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
)

// The connection that keeps the server waiting longest is closed, however it does that; those whose
// request is whole stay.
func TestTheSlowestGoes(t *testing.T) {
	inside, let := make(chan struct{}, 8), make(chan struct{})
	conns := &Conns{Most: 4}
	addr := bounded(t, conns, func(w http.ResponseWriter, r *http.Request) {
		io.ReadAll(r.Body)
		inside <- struct{}{}
		if r.Method == "GET" {
			<-let
		}
	})
	open := func(n int64) { // until the server has accepted so many
		for range 2000 {
			if o, _, _ := conns.Counts(); o == n {
				return
			}
			time.Sleep(time.Millisecond)
		}
		t.Fatalf("%d connections are not open", n)
	}
	whole := dial(t, addr, get)
	<-inside
	silent := dial(t, addr, "")
	open(2)
	header := dial(t, addr, "GET / HTTP/1.1\r\nHost:")
	open(3)
	body := dial(t, addr, post+"hal")
	open(4)
	first := dial(t, addr, post+"hello")
	<-inside
	answered(t, "the first that comes later", first)
	closed(t, "silent", silent)
	second := dial(t, addr, post+"hello")
	<-inside
	answered(t, "the second", second)
	closed(t, "half a header", header)
	third := dial(t, addr, post+"hello")
	<-inside
	answered(t, "the third", third)
	closed(t, "half a body", body)
	close(let)
	answered(t, "the one that was whole all the time", whole)
	if open, slow, refused := conns.Counts(); open != 4 || slow != 3 || refused != 0 {
		t.Errorf("%d are open, %d were slow, %d refused; want 4, 3, 0", open, slow, refused)
	}
}

// When all are being answered, and when one client has too many, new ones are refused.
func TestNoRoom(t *testing.T) {
	for name, conns := range map[string]*Conns{"for all": {Most: 2}, "for one client": {PerClient: 2}} {
		inside, let := make(chan struct{}, 8), make(chan struct{})
		addr := bounded(t, conns, func(http.ResponseWriter, *http.Request) {
			inside <- struct{}{}
			<-let
		})
		one, two := dial(t, addr, get), dial(t, addr, get)
		<-inside
		<-inside
		third, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(third, get) // the server may have closed it
		third.SetReadDeadline(time.Now().Add(20 * time.Second))
		if answer, err := io.ReadAll(third); len(answer) > 0 || fmt.Sprint(err) == "i/o timeout" {
			t.Errorf("%s: the third is answered %q, %v", name, answer, err)
		}
		third.Close()
		close(let)
		answered(t, name+": the first", one)
		answered(t, name+": the second", two)
		if _, _, refused := conns.Counts(); refused != 1 {
			t.Errorf("%s: %d were refused, want 1", name, refused)
		}
	}
}

// A bounded connection can be closed in one direction, as net/http does after an
// answer that it gives before the request is whole.
func TestCloseWrite(t *testing.T) {
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := (&Conns{Most: 1}).Listen(plain)
	defer l.Close()
	client := dial(t, l.Addr().String(), "")
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	half, ok := server.(interface{ CloseWrite() error })
	if !ok {
		t.Fatal("net/http cannot close it for writing alone")
	}
	if err := half.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	client.SetDeadline(time.Now().Add(20 * time.Second))
	server.SetDeadline(time.Now().Add(20 * time.Second))
	if rest, err := io.ReadAll(client); len(rest) > 0 || err != nil {
		t.Errorf("the client reads %q, %v; want the end", rest, err)
	}
	io.WriteString(client, "rest")
	if got, err := io.ReadAll(io.LimitReader(server, 4)); string(got) != "rest" || err != nil {
		t.Errorf("the server reads %q, %v after that", got, err)
	}
}

// BenchmarkConns is what bounding connections costs a request that does nothing, over
// connections that are kept.
func BenchmarkConns(b *testing.B) {
	nothing := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	for _, bench := range []struct {
		name  string
		conns *Conns // nil: none
	}{{"none", nil}, {"bounded", &Conns{Most: 10_000, PerClient: 10_000}}} {
		b.Run(bench.name, func(b *testing.B) {
			s := httptest.NewUnstartedServer(nothing)
			if c := bench.conns; c != nil {
				s.Config.Handler, s.Listener, s.Config.ConnContext = c.Handler(nothing), c.Listen(s.Listener), c.Context
			}
			s.Start()
			defer s.Close()
			b.ReportAllocs()
			b.RunParallel(func(each *testing.PB) {
				client := &http.Client{Transport: &http.Transport{}}
				defer client.CloseIdleConnections()
				for each.Next() {
					answer, err := client.Post(s.URL, "text/plain", strings.NewReader("x"))
					if err != nil {
						b.Error(err)
						return
					}
					io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
				}
			})
		})
	}
}

// A client cannot choose who they are; only a proxy that is trusted says it.
func TestClientOf(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct{ peer, chain, want string }{
		{"192.0.2.7:1", "", "192.0.2.7"},
		{"192.0.2.7:1", "198.51.100.1", "192.0.2.7"},
		{"10.0.0.1:1", "198.51.100.1", "198.51.100.1"},
		{"10.0.0.1:1", "203.0.113.9, 198.51.100.1", "198.51.100.1"},
		{"10.0.0.1:1", "198.51.100.1, 10.2.3.4", "198.51.100.1"},
		{"[fd00::1]:1", "2001:db8::1", "2001:db8::1"},
		{"10.0.0.1:1", "nobody", "10.0.0.1"},
		{"10.0.0.1:1", "", "10.0.0.1"},
		{"10.0.0.1:1", "198.51.100.1, 10.2.3.4, x", "10.0.0.1"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		r.Header.Set("X-Forwarded-For", c.chain)
		if got := ClientOf(r, proxies); got.String() != c.want {
			t.Errorf("%s by %s: %s, want %s", c.chain, c.peer, got, c.want)
		}
	}
}

func TestClient(t *testing.T) {
	for text, want := range map[string]string{"192.0.2.7": "192.0.2.7/32", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64"} {
		if got := Client(netip.MustParseAddr(text)); got.String() != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if got := Client(netip.Addr{}); got != (netip.Prefix{}) {
		t.Errorf("no address: %s", got)
	}
}

// A request whose body nobody needs is whole when the body is read: its connection is
// not closed for another.
func TestAnUnneededBodyIsRead(t *testing.T) {
	inside, let := make(chan struct{}), make(chan struct{})
	conns := &Conns{Most: 1}
	addr := bounded(t, conns, func(w http.ResponseWriter, r *http.Request) {
		if err := Drain(w, r); err != nil {
			t.Error(err)
		}
		inside <- struct{}{}
		<-let
		io.WriteString(w, "paid")
	})
	pays := dial(t, addr, "POST /pay HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
	<-inside
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the newcomer was neither refused nor closed")
	}
	close(let)
	_ = pays.SetReadDeadline(time.Now().Add(10 * time.Second))
	if got, err := io.ReadAll(pays); !strings.HasSuffix(string(got), "paid") {
		t.Errorf("the payer reads %q, %v", got, err)
	}
}
