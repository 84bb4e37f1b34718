package point

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A Report is what a fault has to know of a service process.
type Report struct {
	InFlight  int64  `json:"in_flight"`            // purchases in this process
	Left      *int64 `json:"units_left,omitempty"` // of the sale that was asked about
	Session   string `json:"session,omitempty"`    // with ZooKeeper; "": it has none now
	ZooKeeper bool   `json:"zookeeper,omitempty"`  // the strategy's locks live there
}

// A Client arms the points of another process, through its admin listener.
type Client struct {
	base string
	http *http.Client
}

// NewClient is for an address as --admin-addr takes it.
func NewClient(addr string) *Client {
	dialer := &net.Dialer{Timeout: time.Second}
	network := "tcp"
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, addr = "unix", path
	}
	return &Client{"http://localhost", &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, // a stopped process would wait for them
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, addr)
		}}}}
}

// State asks what is left of a sale; strategy "": of none.
func (c *Client) State(ctx context.Context, strategy string, sku int64) (r Report, err error) {
	query := ""
	if strategy != "" {
		query = "?" + url.Values{"strategy": {strategy}, "sku_id": {strconv.FormatInt(sku, 10)}}.Encode()
	}
	return r, c.call(ctx, http.MethodGet, "state"+query, nil, &r)
}

// Arm sets a trap.
func (c *Client) Arm(ctx context.Context, o Order) (t Trap, err error) {
	return t, c.call(ctx, http.MethodPost, "points", o, &t)
}

// Await waits until a trap is not armed any more, but no longer than limit.
func (c *Client) Await(ctx context.Context, id string, limit time.Duration) (t Trap, err error) {
	return t, c.call(ctx, http.MethodGet, fmt.Sprint("points/", id, "?wait_ms=", limit.Milliseconds()), nil, &t)
}

// Remove lets the purchase go on.
func (c *Client) Remove(ctx context.Context, id string) (t Trap, err error) {
	return t, c.call(ctx, http.MethodDelete, "points/"+id, nil, &t)
}

// Cut closes the process's connections to its backends, and says how many.
func (c *Client) Cut(ctx context.Context) (closed int, err error) {
	var said struct{ Closed int }
	err = c.call(ctx, http.MethodPost, "cut", nil, &said)
	return said.Closed, err
}

// Jump sets the process's clock ahead of the right time.
func (c *Client) Jump(ctx context.Context, ahead time.Duration) (said Clock, err error) {
	return said, c.call(ctx, http.MethodPost, "clock", map[string]int64{"ahead_ms": ahead.Milliseconds()}, &said)
}

func (c *Client) call(ctx context.Context, method, path string, body, into any) error {
	var sent io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+"/admin/v1/faults/"+path, sent)
	if err != nil {
		return err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return err
	}
	if answer.StatusCode >= 300 {
		return fmt.Errorf("%s: %.300s", answer.Status, text)
	}
	return json.Unmarshal(text, into)
}
