package loadtest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A client sends purchases, each exactly once: what became of a request whose
// connection broke is for the ledger to say, not for a second try.
type client struct {
	transport *http.Transport
	endpoints []*url.URL // one a target
	order     order
	timeout   time.Duration
}

func newClient(c Config) *client {
	cl := &client{
		order:   order{c.SKU, c.Quantity, c.Strategy},
		timeout: c.Timeout,
		// A Transport of its own, without HTTP/2, proxies, compression or
		// Expect: 100-continue: one connection a buyer at a time, kept alive.
		transport: &http.Transport{
			MaxIdleConnsPerHost: c.Concurrency,
			DisableCompression:  true,
		},
	}
	for _, t := range c.Targets {
		u, _ := url.Parse(strings.TrimRight(t, "/") + "/api/v1/seckill") // checked
		if !c.ByDefault {
			u.RawQuery = url.Values{"strategy": {c.Strategy}}.Encode()
		}
		cl.endpoints = append(cl.endpoints, u)
	}
	return cl
}

func (c *client) close() { c.transport.CloseIdleConnections() }

// once is a body that cannot be rewound. net/http takes a request with an
// Idempotency-Key for one that it may send again by itself, unless its body
// cannot be had twice.
type once struct{ *bytes.Reader }

func (once) Close() error { return nil }

// No answer of the service is longer.
const maxAnswer = 64 << 10

// buy sends one purchase and says what the buyer was told. answer is a buffer
// for the reply's body, reused from purchase to purchase.
func (c *client) buy(ctx context.Context, i int, user int64, key string, answer *bytes.Buffer) reply {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	body := strconv.AppendInt([]byte(`{"sku_id":`), c.order.sku, 10)
	body = strconv.AppendInt(append(body, `,"user_id":`...), user, 10)
	body = strconv.AppendInt(append(body, `,"quantity":`...), c.order.quantity, 10)
	body = append(body, '}')
	endpoint := c.endpoints[i%len(c.endpoints)]
	req := (&http.Request{
		Method: http.MethodPost, URL: endpoint, Host: endpoint.Host,
		Header: http.Header{
			"Content-Type":    {"application/json"},
			"Idempotency-Key": {key},
		},
		Body: once{bytes.NewReader(body)}, ContentLength: int64(len(body)),
	}).WithContext(ctx)

	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return noAnswer(err)
	}
	defer resp.Body.Close()
	answer.Reset()
	n, err := answer.ReadFrom(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return noAnswer(err)
	case n > maxAnswer:
		return nonsense("status %d with more than %d bytes: %s", resp.StatusCode, maxAnswer, excerpt(answer.Bytes()))
	}
	return c.order.classify(resp.StatusCode, resp.Header.Get("Content-Type"), answer.Bytes())
}
