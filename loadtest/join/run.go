package join

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"seckill/loadtest"
)

// A Crew is the workers of one run, connected and ready to be told what to send. It
// is loadtest.Workers.
type Crew struct {
	workers []*member
}

type member struct {
	link
	name  string
	proof string // of this side, for the worker
}

// greet has a stranger prove that they know the secret.
func greet(conn net.Conn, secret []byte) (*member, error) {
	m := &member{link: link{conn, longestStranger}}
	ours := nonce()
	if err := m.send(message{Kind: kindHello, Version: version, Nonce: ours}, handshake); err != nil {
		return nil, err
	}
	w, err := m.expect(kindWorker, handshake)
	if err != nil {
		return nil, err
	}
	if !proves(w.Proof, secret, sideWorker, ours, w.Nonce) {
		_ = m.send(message{Kind: kindFailed, Error: ErrSecret.Error()}, handshake)
		return nil, ErrSecret
	}
	m.longest = longestMessage
	m.name, m.proof = w.Name, proof(secret, sideRun, ours, w.Nonce)
	return m, nil
}

// mostStrangers bounds connections that have not proved who they are. Others come
// again. shortly is how long an Accept that failed is left alone.
const mostStrangers, shortly = 32, 50 * time.Millisecond

// Assemble accepts workers on l until there are n, and closes it then. It calls
// joined for each. Strangers are turned away.
func Assemble(ctx context.Context, l net.Listener, secret []byte, n int, joined func(name string, so, far int)) (*Crew, error) {
	c, came := &Crew{}, make(chan *member)
	accepting, enough := context.WithCancel(ctx)
	var greeting sync.WaitGroup
	defer greeting.Wait()
	defer enough()
	context.AfterFunc(accepting, func() { l.Close() })
	room := make(chan struct{}, mostStrangers)
	greeting.Go(func() {
		for {
			conn, err := l.Accept()
			if accepting.Err() != nil {
				if err == nil {
					conn.Close()
				}
				return
			}
			if err != nil { // too many files are open, say
				select {
				case <-time.After(shortly):
				case <-accepting.Done():
				}
				continue
			}
			select {
			case room <- struct{}{}:
			default:
				conn.Close()
				continue
			}
			greeting.Go(func() {
				defer func() { <-room }()
				stay := context.AfterFunc(accepting, func() { conn.Close() })
				m, err := greet(conn, secret)
				if err != nil {
					conn.Close()
					return
				}
				stay()
				select {
				case came <- m:
				case <-accepting.Done():
					conn.Close()
				}
			})
		}
	})
	for len(c.workers) < n {
		select {
		case m := <-came:
			number := len(c.workers)
			m.name = fmt.Sprintf("worker %d (%s)", number+1, m.name)
			if err := m.send(message{Kind: kindWelcome, Proof: m.proof, Number: number, Of: n}, handshake); err != nil {
				m.Close()
				continue
			}
			c.workers = append(c.workers, m)
			joined(m.name, len(c.workers), n)
		case <-ctx.Done():
			c.Close()
			return nil, fmt.Errorf("%d of %d workers joined: %w", len(c.workers), n, context.Cause(ctx))
		}
	}
	return c, nil
}

// Close hangs up.
func (c *Crew) Close() {
	for _, m := range c.workers {
		m.Close()
	}
}

// Count is how many workers there are.
func (c *Crew) Count() int { return len(c.workers) }

// Send implements loadtest.Workers.
func (c *Crew) Send(ctx context.Context, o loadtest.Order, progress func(int, loadtest.Progress)) []loadtest.Sent {
	sent := make([]loadtest.Sent, len(c.workers))
	var telling sync.Mutex
	var all, ready sync.WaitGroup
	ready.Add(len(c.workers))
	for i, m := range c.workers {
		all.Go(func() {
			s := &sent[i]
			s.Name = m.name
			prepared := sync.OnceFunc(ready.Done)
			defer prepared()
			if s.Err = m.prepare(o); s.Err != nil {
				return
			}
			prepared()
			ready.Wait() // all begin together
			if ctx.Err() != nil {
				s.Err = context.Cause(ctx)
				return
			}
			defer context.AfterFunc(ctx, func() { _ = m.send(message{Kind: kindStop}, handshake) })()
			s.Err = m.follow(s, func(p loadtest.Progress) {
				telling.Lock()
				defer telling.Unlock()
				progress(i, p)
			})
		})
	}
	all.Wait()
	return sent
}

// prepare tells a worker what to send, and waits until it has connected.
func (m *member) prepare(o loadtest.Order) error {
	if err := m.send(message{Kind: kindOrder, Order: &o}, handshake); err != nil {
		return err
	}
	_, err := m.expect(kindReady, silence+o.Scenario.Timeout)
	return err
}

// follow has the worker begin, and takes what it says until it has ended.
func (m *member) follow(s *loadtest.Sent, progress func(loadtest.Progress)) error {
	s.Told, s.Earliest = true, time.Now()
	s.Latest = s.Earliest
	if err := m.send(message{Kind: kindGo}, handshake); err != nil {
		return err
	}
	if _, err := m.expect(kindBegun, silence); err != nil {
		return err
	}
	s.Latest = time.Now()
	for {
		got, err := m.receive(silence)
		switch {
		case err != nil:
			return err
		case got.Kind == kindProgress && got.Progress != nil:
			progress(*got.Progress)
		case got.Kind == kindCalls:
			s.Calls = append(s.Calls, got.Calls)
		case got.Kind == kindHaul && got.Haul != nil:
			s.Haul = got.Haul
			return nil
		default:
			return fmt.Errorf("a message %q came in the middle of the run", got.Kind)
		}
	}
}
