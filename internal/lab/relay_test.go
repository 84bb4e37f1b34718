package lab

import (
	"io"
	"net"
	"testing"
	"time"
)

// Bytes that were held back arrive later or are lost with their connection. Only held bytes are counted.
func TestRelay(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer echo.Close()
	told := make(chan string, 9) // to the server
	go func() {
		c, err := echo.Accept()
		for buffer := make([]byte, 100); err == nil; {
			var n int
			if n, err = c.Read(buffer); n > 0 {
				told <- string(buffer[:n])
				_, err = c.Write(buffer[:n])
			}
		}
	}()
	r, err := ListenRelay()
	check(t, err)
	defer r.Close()
	r.PointTo(echo.Addr().String())
	c, err := net.Dial("tcp", r.Addr())
	check(t, err)
	defer c.Close()
	check(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	hear := func() string {
		buffer := make([]byte, 100)
		n, err := c.Read(buffer)
		if n == 0 && err != io.EOF {
			t.Fatal(err)
		}
		return string(buffer[:n]) // "" if the connection has ended
	}
	say := func(text string) {
		t.Helper()
		_, err := io.WriteString(c, text)
		check(t, err)
	}
	heldBack := func() {
		for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(time.Millisecond) {
			r.mu.Lock()
			n := r.held
			r.mu.Unlock()
			if n > 0 {
				return
			}
		}
		t.Fatal("nothing was held back")
	}

	r.Hold(Requests, Replies)
	r.Release()
	if n := r.HeldBytes(); n != 0 {
		t.Errorf("%d bytes were held back before any was sent", n)
	}
	r.Hold(Requests, Replies)
	say("now")
	heldBack()
	if len(told) > 0 {
		t.Errorf("behind a partition the server was told %q", <-told)
	}
	r.Release()
	if n, got := r.HeldBytes(), hear(); n != 3 || got != "now" || <-told != "now" {
		t.Errorf("%d bytes were held back, and %q arrives afterwards", n, got)
	}
	r.Hold(Replies)
	say("do")
	if did := <-told; did != "do" {
		t.Errorf("the server was told %q", did)
	}
	heldBack()
	r.CloseConnections()
	if n, got := r.HeldBytes(), hear(); n != 2 || got != "" {
		t.Errorf("%d bytes were held back, and the client hears %q: want two that are lost", n, got)
	}
}
