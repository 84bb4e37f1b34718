package loadtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"seckill/loadtest/adapter"
)

// A generator must not be what is measured, and net/http's client costs more
// than many a service. A wire reads the answers of one HTTP/1.1 connection
// with one buffer, which lasts for all of them: nothing is allocated for an
// answer of usual size. Messages are as RFC 9112 has them; what is not is
// never guessed at.
type wire struct {
	from       io.Reader
	buf        []byte
	start, end int // buf[start:end] has been received and not been read

	contentType span
	body        []byte // of a chunked answer, put together
}

// A span is a part of buf, by its place: buf may move while it grows.
type span struct{ from, to int }

const (
	maxHead  = 16 << 10
	firstBuf = 2 << 10
)

// An oddity is an answer that is not HTTP as we know it.
type oddity string

func (o oddity) Error() string { return string(o) }

func odd(format string, args ...any) error { return oddity(fmt.Sprintf(format, args...)) }

// receive reads the next answer. An oddity, or whatever ended the connection.
func (w *wire) receive() (a adapter.Response, last bool, err error) {
	for {
		a = adapter.Response{}
		head, err := w.head(&a)
		if err != nil {
			return adapter.Response{}, false, err
		}
		if a.Status >= 200 {
			return w.finish(a, head)
		}
		if a.Status == 101 {
			return adapter.Response{}, false, odd("the target switched protocols")
		}
		// 100 Continue, 103 Early Hints: the answer is still to come.
	}
}

// A framing says where the body ends.
type framing struct {
	length  int // -1: not said
	chunked bool
	last    bool // the connection cannot be used again
}

// head reads up to the empty line.
func (w *wire) head(a *adapter.Response) (f framing, err error) {
	f.length = -1
	w.contentType = span{}
	keepAlive := true
	for line := 0; ; line++ {
		at, to, err := w.line(maxHead)
		if err != nil {
			return f, err
		}
		text := w.buf[at:to]
		switch {
		case line == 0:
			if keepAlive, err = statusLine(text, a); err != nil {
				return f, err
			}
		case len(text) == 0:
			f.last = !keepAlive || f.chunked && f.length >= 0 // both: the message is ambiguous
			return f, nil
		default:
			name, value, ok := bytes.Cut(text, []byte(":"))
			if !ok || len(name) == 0 {
				return f, odd("a header without a colon: %s", adapter.Excerpt(text))
			}
			value = bytes.TrimSpace(value)
			switch {
			case is(name, "content-length"):
				n, ok := decimal(value)
				if !ok || f.length >= 0 && f.length != n {
					return f, odd("a Content-Length of %s", adapter.Excerpt(value))
				}
				f.length = n
			case is(name, "transfer-encoding"):
				if !is(value, "chunked") {
					return f, odd("a Transfer-Encoding of %s", adapter.Excerpt(value))
				}
				f.chunked = true
			case is(name, "content-type"):
				from := to - len(bytes.TrimLeft(text[len(name)+1:], " \t"))
				w.contentType = span{from, from + len(value)}
			case is(name, "content-encoding"):
				if !is(value, "identity") {
					return f, odd("a Content-Encoding of %s, which was not asked for", adapter.Excerpt(value))
				}
			case is(name, "retry-after"):
				if n, ok := decimal(value); ok {
					a.RetryAfter = time.Duration(n) * time.Second
				}
			case is(name, "connection"):
				if is(value, "close") {
					keepAlive = false
				} else if is(value, "keep-alive") {
					keepAlive = true
				}
			}
		}
	}
}

func statusLine(text []byte, a *adapter.Response) (keepAlive bool, err error) {
	rest, http11 := bytes.CutPrefix(text, []byte("HTTP/1.1 "))
	if !http11 {
		var http10 bool
		if rest, http10 = bytes.CutPrefix(text, []byte("HTTP/1.0 ")); !http10 {
			return false, odd("this is not HTTP/1.1: %s", adapter.Excerpt(text))
		}
	}
	code, ok := decimal(rest[:min(3, len(rest))])
	if !ok || code < 100 || code > 599 || len(rest) > 3 && rest[3] != ' ' {
		return false, odd("this is no status: %s", adapter.Excerpt(text))
	}
	a.Status = code
	return http11, nil
}

// finish reads the body.
func (w *wire) finish(a adapter.Response, f framing) (_ adapter.Response, last bool, _ error) {
	head := w.start
	last = f.last
	var err error
	switch {
	case a.Status == 204 || a.Status == 304:
	case f.chunked:
		err = w.chunks()
		a.Body = w.body
	case f.length > adapter.MaxBody:
		err = odd("status %d with %d bytes, which is more than %d", a.Status, f.length, adapter.MaxBody)
	case f.length >= 0:
		for w.end-head < f.length && err == nil {
			err = w.more()
		}
		if err == nil {
			a.Body = w.buf[head : head+f.length]
			w.start = head + f.length
		}
	default: // up to the end of the connection
		last = true
		for err == nil && w.end-head <= adapter.MaxBody {
			err = w.more()
		}
		if errors.Is(err, io.EOF) {
			err = nil
			a.Body = w.buf[head:w.end]
		} else if err == nil {
			err = odd("status %d with more than %d bytes: %s", a.Status, adapter.MaxBody, adapter.Excerpt(w.buf[head:w.end]))
		}
		w.start = w.end
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return adapter.Response{}, false, err
	}
	a.ContentType = w.buf[w.contentType.from:w.contentType.to]
	if w.start != w.end { // more than was asked for
		last = true
	}
	return a, last, nil
}

// chunks puts a chunked body together.
func (w *wire) chunks() error {
	w.body = w.body[:0]
	for {
		at, to, err := w.line(maxHead)
		if err != nil {
			return err
		}
		size, _, _ := bytes.Cut(w.buf[at:to], []byte(";"))
		n, ok := hexadecimal(bytes.TrimSpace(size))
		if !ok {
			return odd("a chunk of size %s", adapter.Excerpt(w.buf[at:to]))
		}
		if len(w.body)+n > adapter.MaxBody {
			return odd("more than %d bytes: %s", adapter.MaxBody, adapter.Excerpt(w.body))
		}
		if n == 0 {
			break
		}
		for w.end-w.start < n+2 {
			if err := w.more(); err != nil {
				return err
			}
		}
		w.body = append(w.body, w.buf[w.start:w.start+n]...)
		if string(w.buf[w.start+n:w.start+n+2]) != "\r\n" {
			return odd("a chunk that is longer than its size: %s", adapter.Excerpt(w.buf[w.start:w.start+n+2]))
		}
		w.start += n + 2
	}
	for { // trailers
		at, to, err := w.line(maxHead)
		if err != nil || at == to {
			return err
		}
	}
}

// line reads one line and returns its place without the line's end.
func (w *wire) line(most int) (at, to int, err error) {
	for searched := w.start; ; {
		if i := bytes.IndexByte(w.buf[searched:w.end], '\n'); i >= 0 {
			at, to = w.start, searched+i
			w.start = to + 1
			if to > at && w.buf[to-1] == '\r' {
				to--
			}
			return at, to, nil
		}
		if searched = w.end; w.end > most+adapter.MaxBody {
			return 0, 0, odd("headers without an end: %s", adapter.Excerpt(w.buf[w.start:w.end]))
		}
		if err := w.more(); err != nil {
			if errors.Is(err, io.EOF) && w.end > 0 {
				err = io.ErrUnexpectedEOF
			}
			return 0, 0, err
		}
	}
}

// more receives what has come. Places in buf stay what they are.
func (w *wire) more() error {
	if w.end == len(w.buf) {
		w.buf = append(w.buf, make([]byte, max(firstBuf, len(w.buf)))...)
	}
	n, err := w.from.Read(w.buf[w.end:])
	w.end += n
	if n > 0 {
		return nil // an error comes again
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// forget makes room for the next answer, of which nothing may have come yet.
func (w *wire) forget() { w.start, w.end = 0, 0 }

// is compares a header's name or a word of its value; want is lower case.
func is(got []byte, want string) bool {
	if len(got) != len(want) {
		return false
	}
	for i, c := range got {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want[i] {
			return false
		}
	}
	return true
}

const mostDigits = 9 // what is longer is odd, and would overflow

func decimal(text []byte) (n int, ok bool) {
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, len(text) > 0 && len(text) <= mostDigits
}

func hexadecimal(text []byte) (n int, ok bool) {
	for _, c := range text {
		switch {
		case '0' <= c && c <= '9':
			n = 16*n + int(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = 16*n + int(c|0x20-'a') + 10
		default:
			return 0, false
		}
	}
	return n, len(text) > 0 && len(text) < mostDigits
}
