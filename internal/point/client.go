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

// A Report has the state of the sale in a service process. Package fault reads it to choose when a fault begins.
type Report struct {
	InFlight int64  `json:"in_flight"`            // the number of purchases that are running in the process
	Left     *int64 `json:"units_left,omitempty"` // the units left of the SKU that the caller has named; nil if none
}

// A Client uses the points of another process.
type Client struct {
	URL   string // the address of the process
	Token string // the token for its admin API
}

var client = &http.Client{Transport: &http.Transport{
	DisableKeepAlives: true, // a connection that stays open would delay the end of the process
	DialContext:       (&net.Dialer{Timeout: time.Second}).DialContext}}

// State returns the Report of the process. If strategy is "", Report.Left is nil.
func (c *Client) State(ctx context.Context, strategy string, sku int64) (r Report, err error) {
	query := ""
	if strategy != "" {
		query = "?" + url.Values{"strategy": {strategy}, "sku_id": {strconv.FormatInt(sku, 10)}}.Encode()
	}
	return r, c.call(ctx, http.MethodGet, "state"+query, nil, &r)
}

// Hold waits until a purchase that matches o has reached the point o.Point. The purchase is held until letGo is called.
func (c *Client) Hold(ctx context.Context, o Order) (caught Catch, letGo func(), err error) {
	holding, letGo := context.WithCancel(context.WithoutCancel(ctx))
	waiting := context.AfterFunc(ctx, letGo)
	//nolint:bodyclose // letGo ends the call, and the body with it
	answer, err := c.ask(holding, http.MethodPost, "points", o)
	if err == nil { // the body begins with the Catch, and ends when the purchase continues
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

// Cut closes the process's connections to its backends, and returns their number.
func (c *Client) Cut(ctx context.Context) (int, error) {
	var said struct{ Closed int }
	err := c.call(ctx, http.MethodPost, "cut", nil, &said)
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

// ask sends a request. It returns an error if the answer is a refusal.
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
