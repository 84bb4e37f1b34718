package loadtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"seckill/loadtest/adapter"
)

func newWire(from io.Reader) *wire {
	w := &wire{}
	w.connect(from)
	return w
}

// Each answer, whole and byte by byte; what is odd is never guessed at.
func TestReceive(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	long := strings.Repeat("x", adapter.MaxBody)
	for _, test := range []struct {
		name, sent string
		status     int
		body       string
		last       bool
		odd        string // part of the oddity
		err        error
	}{
		{"with a length", ok + "Content-Length: 5\r\n\r\nhello", 200, "hello", false, "", nil},
		{"names in any case", "HTTP/1.1 404 Not Found\r\ncOnTeNt-LeNgTh:5\r\n\r\nhello", 404, "hello", false, "", nil},
		{"without a reason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, "", false, "", nil},
		{"bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 0, "", false, "", io.ErrUnexpectedEOF},
		{"chunks", ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\n\r\n", 200, "hello", false, "", nil},
		{"chunks with a trailer", ok + "Transfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n", 200, "0123456789", false, "", nil},
		{"no body", "HTTP/1.1 204 No Content\r\n\r\n", 204, "", false, "", nil},
		{"after early hints", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok + "Content-Length: 1\r\n\r\nx", 200, "x", false, "", nil},
		{"up to the end", ok + "\r\nhello", 200, "hello", true, "", nil},
		{"closing", ok + "Connection: Close\r\nContent-Length: 2\r\n\r\nok", 200, "ok", true, "", nil},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", true, "", nil},
		{"HTTP/1.0 that stays", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", 200, "ok", false, "", nil},
		{"the longest", ok + "Content-Length: 65536\r\n\r\n" + long, 200, long, false, "", nil},
		{"the same length twice", ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nok", 0, "", false, "duplicate content-length", nil},

		{"nothing", "", 0, "", false, "", io.EOF},
		{"cut in the status", "HTTP/1.1 20", 0, "", false, "", io.ErrUnexpectedEOF},
		{"cut in a header", ok + "Content-Le", 0, "", false, "", io.ErrUnexpectedEOF},
		{"cut in the body", ok + "Content-Length: 5\r\n\r\nhell", 0, "", false, "", io.ErrUnexpectedEOF},
		{"cut in a chunk", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", 0, "", false, "", io.ErrUnexpectedEOF},
		{"without the last chunk", ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n", 0, "", false, "", io.ErrUnexpectedEOF},

		{"another protocol", "SSH-2.0-OpenSSH_9.2\r\n", 0, "", false, `first line of response "SSH-2.0-OpenSSH_9.2`, nil},
		{"HTTP/2", "HTTP/2 200\r\n\r\n", 0, "", false, `unsupported http version "HTTP/2"`, nil},
		{"no status", "HTTP/1.1 OK\r\n\r\n", 0, "", false, `invalid response status code "OK"`, nil},
		{"a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", 0, "", false, `invalid response status code "2000"`, nil},
		{"a status out of range", "HTTP/1.1 600 X\r\n\r\n", 0, "", false, "a status of 600", nil},
		{"switching", "HTTP/1.1 101 Switching Protocols\r\n\r\n", 0, "", false, "a status of 101", nil},
		{"no header", ok + "hello\r\n\r\n", 0, "", false, `missing colon: "hello"`, nil},
		{"a wrong length", ok + "Content-Length: -1\r\n\r\n", 0, "", false, "cannot parse content-length", nil},
		{"a huge length", ok + "Content-Length: 99999999999999999999\r\n\r\n", 0, "", false, "cannot parse content-length", nil},
		{"two lengths", ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nok", 0, "", false, "duplicate content-length", nil},
		{"too long", ok + "Content-Length: 65537\r\n\r\n", 0, "", false, "body size exceeds the given limit", nil},
		{"too long up to the end", ok + "\r\n" + long + "x", 0, "", false, "body size exceeds the given limit", nil},
		{"too long in chunks", ok + "Transfer-Encoding: chunked\r\n\r\n10001\r\n" + long + "x\r\n0\r\n\r\n", 0, "", false, "body size exceeds the given limit", nil},
		{"a chunk without a size", ok + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 0, "", false, "empty hex number", nil},
		{"a chunk that is longer", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n", 0, "", false, "cannot find crlf at the end of chunk", nil},
		{"gzip", ok + "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", 0, "", false, "a Content-Encoding of gzip", nil},
		{"another coding", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", 0, "", false, `unsupported transfer-encoding: "gzip, chunked"`, nil},
		{"headers without an end", ok + strings.Repeat("X: y\r\n", 20_000), 0, "", false, "small read buffer", nil},
	} {
		for how, from := range map[string]io.Reader{
			"whole": strings.NewReader(test.sent), "byte by byte": iotest.OneByteReader(strings.NewReader(test.sent))} {
			a, last, err := newWire(from).receive()
			var o oddity
			switch {
			case test.odd != "":
				if !errors.As(err, &o) || !strings.Contains(err.Error(), test.odd) {
					t.Errorf("%s, %s: %v, want an oddity with %q", test.name, how, err, test.odd)
				}
			case test.err != nil:
				if !errors.Is(err, test.err) || errors.As(err, &o) {
					t.Errorf("%s, %s: %v, want %v", test.name, how, err, test.err)
				}
			case err != nil || a.Status != test.status || string(a.Body) != test.body || last != test.last:
				t.Errorf("%s, %s: %d %.40q last %t, %v; want %d %.40q last %t", test.name, how, a.Status, a.Body, last, err,
					test.status, test.body, test.last)
			}
		}
	}
}

// Whatever comes over a connection: no panic, no endless reading, and where
// net/http reads a whole answer of the usual kind, the same one.
func FuzzReceive(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: a\r\n\r\nhello"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		a, _, err := newWire(bytes.NewReader(sent)).receive()
		if err != nil {
			return
		}
		resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(sent)), nil)
		if err != nil || resp.StatusCode < 200 { // net/http is stricter in places that do not matter here
			return
		}
		body, err := io.ReadAll(resp.Body)
		if err == nil && (resp.StatusCode != a.Status || !bytes.Equal(body, a.Body)) {
			t.Errorf("%q is %d %q, net/http says %d %q", sent, a.Status, a.Body, resp.StatusCode, body)
		}
	})
}

const saleBody = `{"order_id":"JBSWY3DPEHPK3PXPJBSWY3DPEH","sku_id":1,"quantity":2,"remaining":7,"strategy":"version"}`

func answeredSale() []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Sat, 21 Nov 2026 00:00:00 GMT\r\nContent-Length: %d\r\n\r\n%s",
		len(saleBody), saleBody)
}

// An endless connection repeats one answer; every read ends with an answer, as
// the next is not sent before it is asked for.
type endless struct {
	text []byte
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

// BenchmarkReceive reads an answer as the generator does, and with net/http.
// cpu-ns/op is steadier than ns/op on a busy machine.
func BenchmarkReceive(b *testing.B) {
	b.Run("fasthttp", func(b *testing.B) {
		w := newWire(&endless{text: answeredSale()})
		benchmark(b, func() (int, error) {
			a, _, err := w.receive()
			return len(a.Body), err
		})
	})
	b.Run("net-http", func(b *testing.B) {
		from := bufio.NewReader(&endless{text: answeredSale()})
		var body bytes.Buffer
		benchmark(b, func() (int, error) {
			resp, err := http.ReadResponse(from, nil)
			if err != nil {
				return 0, err
			}
			defer resp.Body.Close()
			body.Reset()
			_, err = body.ReadFrom(io.LimitReader(resp.Body, adapter.MaxBody+1))
			return body.Len(), err
		})
	})
}

func benchmark(b *testing.B, read func() (int, error)) {
	b.ReportAllocs()
	before := cpuTime()
	for b.Loop() {
		if n, err := read(); err != nil || n != len(saleBody) {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
}
