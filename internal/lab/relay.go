package lab

import (
	"fmt"
	"net"
	"sync"
)

// A relay forwards connections to a server, which can be exchanged. What the
// server sends can be held back.
type relay struct {
	listener net.Listener
	work     sync.WaitGroup

	mu     sync.Mutex
	to     string
	flows  chan struct{} // open while data is held back
	conns  map[net.Conn]bool
	closed bool
}

func listenRelay(port int) (*relay, error) {
	listener, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	if err != nil {
		return nil, err
	}
	r := &relay{listener: listener, conns: map[net.Conn]bool{}, flows: make(chan struct{})}
	close(r.flows)
	r.work.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			r.work.Go(func() { r.serve(client) })
		}
	})
	return r, nil
}

// Addr is where clients connect to.
func (r *relay) Addr() string { return r.listener.Addr().String() }

// Point forwards to another server from now on and ends existing connections.
func (r *relay) Point(to string) { r.cut(to) }

// lead points to a server unless it does already.
func (r *relay) lead(to string) {
	r.mu.Lock()
	same := r.to == to
	r.mu.Unlock()
	if !same {
		r.cut(to)
	}
}

// Cut ends every connection, with what was held back on it. New ones fail.
func (r *relay) Cut() { r.cut("") }

func (r *relay) cut(to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = to
	for c := range r.conns {
		c.Close()
	}
	r.conns = map[net.Conn]bool{}
	select {
	case <-r.flows:
	default:
		close(r.flows)
	}
}

// Hold holds back what servers send until the connections are cut.
func (r *relay) Hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flows = make(chan struct{})
}

// Close returns when every goroutine of the relay has ended.
func (r *relay) Close() error {
	if r == nil {
		return nil
	}
	err := r.listener.Close()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.Cut()
	r.work.Wait()
	return err
}

func (r *relay) serve(client net.Conn) {
	defer client.Close()
	r.mu.Lock()
	to := r.to
	r.mu.Unlock()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	if !r.keep(to, client, server) {
		return
	}
	r.work.Go(func() { r.pass(server, client, false) })
	r.pass(client, server, true)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, client)
	delete(r.conns, server)
}

// keep registers connections to be cut; false if the relay has moved on.
func (r *relay) keep(to string, conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.to != to {
		return false
	}
	for _, c := range conns {
		r.conns[c] = true
	}
	return true
}

// pass copies until one end closes, then closes the other.
func (r *relay) pass(to, from net.Conn, holds bool) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if holds {
			r.mu.Lock()
			flows := r.flows
			r.mu.Unlock()
			<-flows
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
