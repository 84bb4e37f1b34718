package lab

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// A relay forwards connections to a server, which can be exchanged. What is sent
// can be held back or delayed, in each direction.
type relay struct {
	listener net.Listener
	work     sync.WaitGroup

	mu     sync.Mutex
	to     string
	ways   [2]way            // of requests, of replies
	conns  map[net.Conn]bool // true: the server's end
	closed bool
}

// A way is one direction of a relay.
type way struct {
	flows chan struct{} // open while data is held back
	late  time.Duration // after which data goes on
	met   int64         // bytes that were held back or delayed
}

const requests, replies = 0, 1

func (w *way) open() {
	select {
	case <-w.flows:
	default:
		close(w.flows)
	}
}

func listenRelay(port int) (*relay, error) {
	listener, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	if err != nil {
		return nil, err
	}
	r := &relay{listener: listener, conns: map[net.Conn]bool{}}
	for i := range r.ways {
		r.ways[i].flows = make(chan struct{})
		r.ways[i].open()
	}
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
	for i := range r.ways {
		r.ways[i].open()
	}
}

// Hold holds back what is sent from now on in these directions, until Flow, or
// until the connections are cut, which loses it.
func (r *relay) Hold(directions ...int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range directions {
		r.ways[i].open() // those that wait are not forgotten
		r.ways[i].flows = make(chan struct{})
	}
}

// Leave ends every connection at the server, and has clients wait for what it
// would say until Flow. It returns how many it ended.
func (r *relay) Leave() (n int64) {
	r.Hold(requests, replies)
	r.mu.Lock()
	defer r.mu.Unlock()
	for c, server := range r.conns {
		if server {
			c.Close()
			n++
		}
	}
	return n
}

// Delay has everything arrive later by d from now on.
func (r *relay) Delay(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.ways {
		r.ways[i].late = d
	}
}

// Flow lets everything pass again: what was held back arrives, as TCP sends again
// what was not acknowledged.
func (r *relay) Flow() {
	r.Delay(0)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.ways {
		r.ways[i].open()
	}
}

// Met returns how many bytes were held back or delayed since the last call.
func (r *relay) Met() (n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.ways {
		n += r.ways[i].met
		r.ways[i].met = 0
	}
	return n
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
	r.work.Go(func() { r.pass(server, client, requests) })
	r.pass(client, server, replies)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, client)
	delete(r.conns, server)
}

// keep registers connections to be cut; false if the relay has moved on.
func (r *relay) keep(to string, client, server net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.to != to {
		return false
	}
	r.conns[client], r.conns[server] = false, true
	return true
}

// pass copies until one end closes, then closes the other.
func (r *relay) pass(to, from net.Conn, direction int) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		r.wait(direction, n)
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

// wait returns when n bytes may go on.
func (r *relay) wait(direction, n int) {
	r.mu.Lock()
	w := &r.ways[direction]
	flows, late := w.flows, w.late
	held := false
	select {
	case <-flows:
	default:
		held = true
	}
	if held || late > 0 {
		w.met += int64(n)
	}
	r.mu.Unlock()
	<-flows
	if late > 0 {
		time.Sleep(late)
	}
}
