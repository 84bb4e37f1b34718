package join

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"seckill/loadtest"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

var secret = []byte(strings.Repeat("s", 32))

// Strangers do not get in, do not keep others out, and a worker does not work for
// them.
func TestStrangers(t *testing.T) {
	l := listen(t)
	addr := l.Addr().String()
	came := make(chan *Crew, 1)
	go func() {
		c, err := Assemble(t.Context(), l, secret, 1, func(string, int, int) {})
		if err != nil {
			t.Error(err)
		}
		came <- c
	}()
	for _, said := range []string{"GET / HTTP/1.1\r\n\r\n", "\xff\xff\xff\xff", "\x00\x00\x00\x02{}", ""} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		io.WriteString(conn, said)
	}
	silent := func(int, int, loadtest.Order) {}
	other := Worker{Addr: addr, Secret: []byte(strings.Repeat("x", 32)), Name: "stranger", Told: silent}
	if err := other.Run(t.Context(), time.Minute); err == nil || !strings.Contains(err.Error(), "secret") {
		t.Errorf("another secret: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- Worker{Addr: addr, Secret: secret, Name: "ours", Told: silent}.Run(ctx, time.Minute) }()
	crew := <-came
	if crew == nil || crew.Count() != 1 {
		t.Fatal("ours did not get in")
	}
	crew.Close()
	if err := <-ended; !errors.Is(err, ErrGone) {
		t.Errorf("a worker whose run is gone says %v", err)
	}
}

// More workers than can be greeted at once come again, until all are there.
func TestManyWorkersAtOnce(t *testing.T) {
	const workers = 3 * mostStrangers
	l := listen(t)
	var held []net.Conn // strangers who say nothing keep most places
	for range mostStrangers - 2 {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
	}
	ended := make(chan error, workers)
	for range workers {
		go func() {
			w := Worker{Addr: l.Addr().String(), Secret: secret, Name: "w", Told: func(int, int, loadtest.Order) {}}
			ended <- w.Run(t.Context(), time.Minute)
		}()
	}
	crew, err := Assemble(t.Context(), l, secret, workers, func(string, int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	crew.Close()
	for range workers {
		if err := <-ended; !errors.Is(err, ErrGone) {
			t.Errorf("a worker whose run is gone says %v", err)
		}
	}
	for _, conn := range held {
		conn.Close()
	}
}

// A worker asks for proof, too: who listens in a run's place learns no secret, and
// gets no load.
func TestAnImpostor(t *testing.T) {
	l := listen(t)
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		m := link{conn, longestStranger}
		_ = m.send(message{Kind: kindHello, Version: version, Nonce: "n"}, handshake)
		w, _ := m.receive(handshake)
		_ = m.send(message{Kind: kindWelcome, Proof: w.Proof, Of: 1}, handshake) // its own, sent back
		_ = m.send(message{Kind: kindOrder, Order: &loadtest.Order{}}, handshake)
		_, _ = m.receive(handshake)
	}()
	told := false
	w := Worker{Addr: l.Addr().String(), Secret: secret, Told: func(int, int, loadtest.Order) { told = true }}
	if err := w.Run(t.Context(), time.Minute); !errors.Is(err, ErrSecret) || told {
		t.Errorf("%v, and it was told what to send: %t", err, told)
	}
}

// A run that is broken off while it waits lets go of who has come.
func TestAssembleEnds(t *testing.T) {
	l := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Worker{Addr: l.Addr().String(), Secret: secret, Told: func(int, int, loadtest.Order) {}}.Run(t.Context(), time.Minute)
	}()
	_, err := Assemble(ctx, l, secret, 2, func(string, int, int) { cancel() })
	if err == nil || !strings.Contains(err.Error(), "1 of 2") {
		t.Errorf("the run says %v", err)
	}
	if err := <-ended; !errors.Is(err, ErrGone) {
		t.Errorf("the worker says %v", err)
	}
}
