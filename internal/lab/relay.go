package lab

import (
	"net"
	"sync"

	"seckill/internal/backend"
)

// A Relay forwards connections to a server, which can be exchanged. What is sent
// can be held back, in each direction.
type Relay struct {
	listener net.Listener
	work     sync.WaitGroup

	mu      sync.Mutex
	to      string
	holds   [2]bool    // Requests, Replies
	release *sync.Cond // of mu: nothing is held back any more
	held    int64      // bytes that were
	conns   map[net.Conn]bool
}

// Directions.
const Requests, Replies = 0, 1

// ListenRelay opens a relay of this machine that leads nowhere yet. Close it.
func ListenRelay() (*Relay, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Relay{listener: listener, conns: map[net.Conn]bool{}}
	r.release = sync.NewCond(&r.mu)
	r.work.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			r.work.Go(func() { r.serveClient(client) })
		}
	})
	return r, nil
}

// Addr is where clients connect to.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Point forwards to a server from now on. If that is another than before, it ends
// every connection, with what was held back on it. "" leads nowhere: new ones fail.
func (r *Relay) Point(to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.to != to {
		r.to = to
		r.cutAll()
	}
}

// Drop ends every connection, with what was held back on it. New ones go on.
func (r *Relay) Drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cutAll()
}

// cutAll is called with r.mu locked.
func (r *Relay) cutAll() {
	for c := range r.conns {
		c.Close()
	}
	clear(r.conns)
	r.releaseHeld()
}

// Hold holds back what is sent from now on in these directions, until Flow, or
// until the connections are cut, which loses it.
func (r *Relay) Hold(directions ...int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range directions {
		r.holds[i] = true
	}
}

// Flow lets everything pass again: what was held back arrives, as TCP sends again
// what was not acknowledged.
func (r *Relay) Flow() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.releaseHeld()
}

// releaseHeld is called with r.mu locked.
func (r *Relay) releaseHeld() {
	r.holds = [2]bool{}
	r.release.Broadcast()
}

// Held returns how many bytes were held back since the last call.
func (r *Relay) Held() (n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, r.held = r.held, 0
	return n
}

// Close returns when every goroutine of the relay has ended.
func (r *Relay) Close() error {
	err := r.listener.Close()
	r.Point("")
	r.work.Wait()
	return err
}

func (r *Relay) serveClient(client net.Conn) {
	defer client.Close()
	r.mu.Lock()
	to := r.to
	r.mu.Unlock()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	r.mu.Lock()
	stays := r.to == to
	if stays {
		r.conns[client], r.conns[server] = true, true // to be cut
	}
	r.mu.Unlock()
	if !stays {
		return
	}
	r.work.Go(func() { r.copyBytes(server, client, Requests) })
	r.copyBytes(client, server, Replies)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, client)
	delete(r.conns, server)
}

// copyBytes copies until one end closes, then closes the other.
func (r *Relay) copyBytes(to, from net.Conn, direction int) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		r.waitWhileHeld(direction, from, n)
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

// waitWhileHeld returns when n bytes of a connection may go on, or are lost with it.
func (r *Relay) waitWhileHeld(direction int, from net.Conn, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holds[direction] {
		r.held += int64(n)
	}
	for r.holds[direction] && r.conns[from] {
		r.release.Wait()
	}
}

// linkOf is what a link joins.
type linkOf struct{ service, backend string }

// linkedConfig is the lab's configuration for one service: with Options.Links, its
// private servers are at the ends of links of its own. Those of a topology, and
// the five of redlock, have none.
func (l *Lab) linkedConfig(service string) (backend.Config, error) {
	c := l.Config()
	if !l.options.Links {
		return c, nil
	}
	for _, name := range backend.Names() {
		p, err := l.Process(name)
		if err != nil || c.Tiers[name] != backend.Private || l.IsArranged(name) {
			continue
		}
		r, err := l.linkTo(linkOf{service, name}, p.Addr)
		if err != nil {
			return c, err
		}
		l.setPrivate(&c, name, r.Addr())
	}
	return c, nil
}

// linkTo finds a link, or makes it.
func (l *Lab) linkTo(of linkOf, to string) (*Relay, error) {
	l.mu.Lock()
	r := l.links[of]
	l.mu.Unlock()
	if r != nil {
		return r, nil
	}
	r, err := l.newRelay()
	if err != nil {
		return nil, err
	}
	r.Point(to)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.links[of] = r
	return r, nil
}

// newRelay is a relay that ends with the lab.
func (l *Lab) newRelay() (*Relay, error) {
	r, err := ListenRelay()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closers = append(l.closers, r.Close)
	return r, nil
}

// Link finds the network between a service process, counted from 1, and a server;
// nil: the process reaches it directly.
func (l *Lab) Link(service int, server string) *Relay {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.links[linkOf{serviceName(service), server}]
}
