package lab

import (
	"fmt"
	"net"
	"sync"

	"seckill/internal/backend"
)

// A Relay forwards connections to a server. It can switch to another server, and hold back the bytes of each direction.
type Relay struct {
	listener net.Listener
	work     sync.WaitGroup

	mu      sync.Mutex
	to      string     // the server's address; if "", the relay refuses connections
	holds   [2]bool    // holds[d] is true while the bytes of direction d are held back
	release *sync.Cond // uses the mutex mu, and signals a change of holds or conns
	held    int64      // the number of bytes held back since the last call of HeldBytes
	conns   map[net.Conn]bool
}

// Requests and Replies are the directions in which a Relay forwards bytes.
const Requests, Replies = 0, 1

// ListenRelay opens a relay. It refuses connections until PointTo sets a server. The caller must close the relay.
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

// Addr returns the address to which clients connect.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// PointTo makes the relay forward to a server; if the address is "", the relay refuses connections.
// If the server changes, PointTo closes every connection, and the bytes held back are lost.
func (r *Relay) PointTo(to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.to != to {
		r.to = to
		r.cutAll()
	}
}

// CloseConnections closes every connection, and the bytes held back are lost. New connections are accepted.
func (r *Relay) CloseConnections() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cutAll()
}

// cutAll closes the connections. The caller holds r.mu.
func (r *Relay) cutAll() {
	for c := range r.conns {
		c.Close()
	}
	clear(r.conns)
	r.holds = [2]bool{}
	r.release.Broadcast()
}

// Hold holds back the bytes of these directions until Release or CloseConnections.
func (r *Relay) Hold(directions ...int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range directions {
		r.holds[i] = true
	}
}

// Release delivers the bytes that were held back, as TCP does when it retransmits them.
func (r *Relay) Release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holds = [2]bool{}
	r.release.Broadcast()
}

// HeldBytes returns the number of bytes that were held back since the last call.
func (r *Relay) HeldBytes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.held
	r.held = 0
	return n
}

// Close closes the connections and returns when every goroutine of the relay has ended.
func (r *Relay) Close() error {
	err := r.listener.Close()
	r.PointTo("")
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
	isCurrent := r.to == to
	if isCurrent {
		r.conns[client], r.conns[server] = true, true
	}
	r.mu.Unlock()
	if !isCurrent {
		return
	}
	r.work.Go(func() { r.copyBytes(server, client, Requests) })
	r.copyBytes(client, server, Replies)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, client)
	delete(r.conns, server)
}

// copyBytes copies bytes until one end closes, and then closes both.
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

// waitWhileHeld returns when n bytes from a connection may be forwarded, or when the relay has closed the connection.
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

// A linkKey identifies a link by its two ends. A link is the Relay between a service process and a private server. If
// the service is "", all clients share the link.
type linkKey struct{ service, server string }

// configOf returns the lab's configuration for one service process. If the database has several nodes, the process uses
// one of them. If Options.Links is true, the process has a link to each server that the lab has started, unless the
// topology starts several servers of the backend.
func (l *Lab) configOf(service string) (backend.Config, error) {
	c := l.Config()
	if e := l.FindEnsemble(backend.NameMySQL); e != nil {
		n := 1
		_, _ = fmt.Sscanf(service, serviceFormat, &n)
		c = e.Config(c, e.Nodes[(n-1)%len(e.Nodes)])
	}
	if !l.options.Links {
		return c, nil
	}
	for _, name := range backend.Names() {
		p, err := l.Process(name)
		if err != nil || c.Tiers[name] != backend.Private || l.isArranged(name) {
			continue
		}
		r, err := l.linkOf(linkKey{service, name})
		if err != nil {
			return c, err
		}
		r.PointTo(p.Addr)
		l.setPrivate(&c, name, r.Addr())
	}
	return c, nil
}

// linkOf returns the link with this key. If the link does not exist, linkOf makes it. The lab's Stop closes it.
func (l *Lab) linkOf(key linkKey) (*Relay, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.links[key]; r != nil {
		return r, nil
	}
	r, err := ListenRelay()
	if err != nil {
		return nil, err
	}
	l.links[key], l.closers = r, append(l.closers, r.Close)
	return r, nil
}

// Link returns the link between a service process and a server, or nil if the process reaches the server directly. The
// number of the first service process is 1.
func (l *Lab) Link(service int, server string) *Relay {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.links[linkKey{serviceName(service), server}]
}
