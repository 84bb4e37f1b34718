package backend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// A JetStreamClient has one connection to NATS, and opens a new one when that
// breaks. Its commands pass the tap, end with their context or with the
// connection, and are sent once: what has no answer may have been done. (The
// library's own JetStream client publishes again when no server took a message,
// and keeps messages while it is not connected, to send them later.)
type JetStreamClient struct {
	conn *nats.Conn

	mu     sync.Mutex
	link   context.Context // ends with the connection
	cut    context.CancelCauseFunc
	up     chan struct{} // closed while there is a connection
	killed chan struct{} // closed when the instance was killed
}

var (
	errJetStreamCut  = errors.New("the connection to NATS broke before the answer")
	errJetStreamDown = errors.New("there is no connection to NATS")
)

const (
	// A server that is back is used at once.
	slowestJetStreamDial = time.Second
	// reconnectWithin is how long a command waits for a connection.
	reconnectWithin = 500 * time.Millisecond
	// jetstreamAnswer bounds a command whose context has no end.
	jetstreamAnswer = 5 * time.Second
)

func (in *Instance) openJetStream(ctx context.Context) (err error) {
	urls := in.Config.JetStreamURLs
	if len(urls) == 0 {
		return nil
	}
	shown := ShowAddresses(urls)
	c := &JetStreamClient{up: make(chan struct{}), killed: make(chan struct{})}
	c.connected()
	c.conn, err = nats.Connect(strings.Join(urls, ","), nats.Name("seckill"), in.jetstreamLogin,
		nats.SetCustomDialer(jetstreamDialer{in.Dialer, sync.OnceFunc(func() { close(c.killed) })}),
		nats.Timeout(in.dialTimeout()), nats.MaxReconnects(-1), nats.IgnoreDiscoveredServers(),
		nats.CustomReconnectDelay(func(attempts int) time.Duration {
			return min(10*time.Millisecond<<min(attempts, 10), slowestJetStreamDial)
		}),
		nats.ReconnectBufSize(-1), // never send later
		nats.PingInterval(10*time.Second), nats.MaxPingsOutstanding(1),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { c.disconnected() }),
		nats.ReconnectHandler(func(*nats.Conn) { c.connected() }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // they are returned
	if err != nil {
		return unreachable(NameJetStream, shown, err)
	}
	in.closers = append(in.closers, c.Close)
	if err := c.Ask(ctx); err != nil {
		return unreachable(NameJetStream, shown, err)
	}
	in.JetStream = c
	in.versions[NameJetStream] = "NATS " + c.conn.ConnectedServerVersion()
	return nil
}

// jetstreamLogin is an option of the connection.
func (in *Instance) jetstreamLogin(o *nats.Options) error {
	login := in.Config.Logins[NameJetStream]
	if login.User != "" || login.Password != "" {
		if err := nats.UserInfo(login.User, login.Password)(o); err != nil {
			return err
		}
	}
	if login.TLS == nil {
		return nil
	}
	return nats.Secure(login.TLS)(o)
}

// Close ends the connection and every command.
func (c *JetStreamClient) Close() error {
	c.conn.Close()
	c.disconnected()
	return nil
}

// Ask asks whether JetStream answers.
func (c *JetStreamClient) Ask(ctx context.Context) error {
	_, err := c.request(ctx, "$JS.API.INFO", nil, nil)
	if errors.Is(err, nats.ErrNoResponders) {
		return errors.New("the NATS server has no JetStream: start it with -js")
	}
	return err
}

func (c *JetStreamClient) connected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link, c.cut = context.WithCancelCause(context.Background())
	close(c.up)
}

func (c *JetStreamClient) disconnected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link.Err() == nil {
		c.cut(errJetStreamCut)
		c.up = make(chan struct{})
	}
}

// onLink returns a context that ends with ctx, and with the connection. It waits a
// little for a connection.
func (c *JetStreamClient) onLink(ctx context.Context) (context.Context, context.CancelFunc, error) {
	limit := time.NewTimer(reconnectWithin)
	defer limit.Stop()
	for {
		c.mu.Lock()
		link, up := c.link, c.up
		c.mu.Unlock()
		select {
		case <-up:
		case <-c.killed:
			return nil, nil, ErrKilled
		case <-limit.C:
			return nil, nil, errJetStreamDown
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
		if link.Err() != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, jetstreamAnswer)
		ctx, end := context.WithCancelCause(ctx)
		stop := context.AfterFunc(link, func() { end(context.Cause(link)) })
		return ctx, func() { stop(); end(nil); cancel() }, nil
	}
}

// request sends one message and waits for its one answer.
func (c *JetStreamClient) request(
	ctx context.Context, subject string, header nats.Header, data []byte,
) (*nats.Msg, error) {
	ctx, done, err := c.onLink(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	m, err := c.conn.RequestMsgWithContext(ctx, &nats.Msg{Subject: subject, Header: header, Data: data})
	switch {
	case errors.Is(err, nats.ErrReconnectBufExceeded): // the library knew first, and sent nothing
		err = errJetStreamDown
	case err != nil && ctx.Err() != nil:
		err = fmt.Errorf("no answer from NATS: %w", context.Cause(ctx))
	}
	return m, err
}

// requestAll sends one message and gathers its answers, up to one with a status.
func (c *JetStreamClient) requestAll(ctx context.Context, subject string, data []byte) (all []*nats.Msg, err error) {
	ctx, done, err := c.onLink(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	inbox := c.conn.NewInbox()
	answers, err := c.conn.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer answers.Unsubscribe()
	if err := c.conn.PublishRequest(subject, inbox, data); err != nil {
		return nil, err
	}
	for {
		m, err := answers.NextMsgWithContext(ctx)
		switch {
		case errors.Is(err, nats.ErrNoResponders):
			return nil, ErrNoStream
		case err != nil && ctx.Err() != nil:
			return nil, fmt.Errorf("no answer from NATS: %w", context.Cause(ctx))
		case err != nil:
			return nil, err
		case m.Header.Get("Status") != "":
			return all, statusError(m.Header)
		}
		all = append(all, m)
	}
}

// statusError is nil at the end of a batch, and where there is nothing in it.
func statusError(h nats.Header) error {
	switch status := h.Get("Status"); status {
	case "204", "404":
		return nil
	case "503":
		return ErrNoStream
	default:
		return fmt.Errorf("NATS answers %s %s", status, h.Get("Description"))
	}
}

// A jetstreamDialer dials for the library.
type jetstreamDialer struct {
	dialer *Dialer
	killed func()
}

func (d jetstreamDialer) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), orElse(d.dialer.timeout, usualDialTimeout))
	defer cancel()
	conn, err := d.dialer.DialContext(ctx, network, address)
	if errors.Is(err, ErrKilled) {
		d.killed()
	}
	return conn, err
}
