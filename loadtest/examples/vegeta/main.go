// Command vegeta turns vegeta's results into what seckill judge reads.
//
//	vegeta attack -targets targets.txt -format http … | vegeta encode --to json |
//	    go run ./loadtest/examples/vegeta -stock 100 > told.jsonl
//	seckill judge --told told.jsonl --mysql-dsn …
//
// A result of vegeta does not have the request's headers and body, but it has
// its URL as the targets file says it, with the fragment that is never sent. So
// each target says there who asks for what:
//
//	POST http://127.0.0.1:8081/api/v1/seckill#user_id=42&request_id=v42&quantity=1
//	Content-Type: application/json
//	Idempotency-Key: v42
//	@42.json
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"time"
)

func main() {
	sku := flag.Int64("sku", 1, "what was sold")
	stock := flag.Int64("stock", -1, "units that were set for the run")
	strategy := flag.String("strategy", "", "the strategy, if it is to be said")
	flag.Parse()
	if *stock < 0 {
		fmt.Fprintln(os.Stderr, "vegeta: say with -stock how many units were set")
		os.Exit(2)
	}
	if err := convert(os.Stdin, os.Stdout, *sku, *stock, *strategy); err != nil {
		fmt.Fprintln(os.Stderr, "vegeta:", err)
		os.Exit(1)
	}
}

// A result is what this needs of one line of vegeta encode --to json.
type result struct {
	Code      int           `json:"code"`
	Timestamp time.Time     `json:"timestamp"`
	Latency   time.Duration `json:"latency"` // nanoseconds
	Error     string        `json:"error"`
	Body      []byte        `json:"body"` // base64
	URL       string        `json:"url"`
}

type call struct {
	RequestID string     `json:"request_id"`
	User      int64      `json:"user_id"`
	SKU       int64      `json:"sku_id"`
	Quantity  int64      `json:"quantity"`
	Outcome   string     `json:"outcome"`
	OrderID   string     `json:"order_id,omitempty"`
	Remaining *int64     `json:"remaining,omitempty"`
	Sent      time.Time  `json:"sent_at"`
	Answered  *time.Time `json:"answered_at,omitempty"`
}

func convert(r io.Reader, w io.Writer, sku, stock int64, strategy string) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	set := map[string]any{"sku_id": sku, "stock": stock}
	if strategy != "" {
		set["strategy"] = strategy
	}
	if err := lines.Encode(set); err != nil {
		return err
	}
	results := json.NewDecoder(r)
	for n := 1; ; n++ {
		var one result
		err := results.Decode(&one)
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return fmt.Errorf("result %d: %w (give it the output of vegeta encode --to json)", n, err)
		}
		told, err := one.told(sku)
		if err != nil {
			return fmt.Errorf("result %d: %w", n, err)
		}
		if err := lines.Encode(told); err != nil {
			return err
		}
	}
}

func (r result) told(sku int64) (call, error) {
	c := call{SKU: sku, Sent: r.Timestamp}
	u, err := url.Parse(r.URL)
	if err != nil {
		return c, err
	}
	asked, err := url.ParseQuery(u.Fragment)
	if err != nil {
		return c, fmt.Errorf("the fragment of %q: %w", r.URL, err)
	}
	c.RequestID = asked.Get("request_id")
	user, userErr := strconv.ParseInt(asked.Get("user_id"), 10, 64)
	quantity, quantityErr := strconv.ParseInt(asked.Get("quantity"), 10, 64)
	if c.User, c.Quantity = user, quantity; userErr != nil || quantityErr != nil || c.RequestID == "" {
		return c, fmt.Errorf("%q must end in #user_id=…&request_id=…&quantity=…, as the target says it", r.URL)
	}
	var body struct {
		OrderID   string `json:"order_id"`
		Remaining *int64 `json:"remaining"`
		Code      string `json:"code"`
	}
	if r.Code == 0 || json.Unmarshal(r.Body, &body) != nil {
		c.Outcome = "unknown" // no answer, or half of one
		return c, nil
	}
	answered := r.Timestamp.Add(r.Latency)
	c.Answered = &answered
	switch body.Code {
	case "sold_out", "duplicate", "conflict", "busy", "in_progress", "expired":
		c.Outcome = body.Code
	case "rate_limited":
		c.Outcome = "busy"
	case "unknown_outcome", "internal":
		c.Outcome = "unknown"
	default:
		switch {
		case r.Code == 200 && body.OrderID != "" && body.Remaining != nil:
			c.Outcome, c.OrderID, c.Remaining = "sold", body.OrderID, body.Remaining
		case r.Code == 202:
			c.Outcome = "accepted"
		case r.Code >= 400 && r.Code < 500, body.Code != "":
			c.Outcome = "error"
		default:
			c.Outcome = "unknown"
		}
	}
	return c, nil
}
