package point

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// A Report is what a fault has to know of a service process.
type Report struct {
	InFlight int64  `json:"in_flight"`            // purchases in this process
	Left     *int64 `json:"units_left,omitempty"` // of the sale that was asked about
}

// A Client uses the points of another process.
type Client struct {
	URL   string // of the process
	Token string // of its admin calls
}

var client = &http.Client{Transport: &http.Transport{
	DisableKeepAlives: true, // a stopped process would wait for them
	DialContext:       (&net.Dialer{Timeout: time.Second}).DialContext}}

// State asks what is left of a sale; strategy "": of none.
func (c *Client) State(ctx context.Context, strategy string, sku int64) (r Report, err error) {
	query := ""
	if strategy != "" {
		query = "?" + url.Values{"strategy": {strategy}, "sku_id": {strconv.FormatInt(sku, 10)}}.Encode()
	}
	return r, c.call(ctx, http.MethodGet, "state"+query, nil, &r)
}

// Hold waits for the purchase of an order, and has it held until letGo is called.
func (c *Client) Hold(ctx context.Context, o Order) (caught Catch, letGo func(), err error) {
	holding, letGo := context.WithCancel(context.WithoutCancel(ctx))
	waiting := context.AfterFunc(ctx, letGo)
	answer, err := c.ask(holding, http.MethodPost, "points", o)
	if err == nil { // of which the end comes when the purchase goes on
		err = json.NewDecoder(answer.Body).Decode(&caught)
	}
	if err == nil && !waiting() {
		err = context.Cause(ctx)
	}
	if err != nil {
		letGo()
	}
	return caught, letGo, err
}

// Cut closes the process's connections to its backends, and says how many.
func (c *Client) Cut(ctx context.Context) (closed int, err error) {
	var said struct{ Closed int }
	err = c.call(ctx, http.MethodPost, "cut", nil, &said)
	return said.Closed, err
}

func (c *Client) call(ctx context.Context, method, path string, body, into any) error {
	answer, err := c.ask(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return json.NewDecoder(answer.Body).Decode(into)
}

// ask returns an answer that is no refusal.
func (c *Client) ask(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.URL+"/admin/v1/faults/"+path, &sent)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+c.Token)
	answer, err := client.Do(request)
	if err != nil || answer.StatusCode < 300 {
		return answer, err
	}
	defer answer.Body.Close()
	why, err := io.ReadAll(io.LimitReader(answer.Body, 300))
	return nil, errors.Join(fmt.Errorf("%s: %s", answer.Status, why), err)
}
