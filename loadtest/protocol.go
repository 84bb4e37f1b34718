package loadtest

import (
	"fmt"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A protocol is how a service is asked, and what its answers mean.
type protocol struct {
	buy    message
	cancel message // empty where orders cannot be cancelled
	// means says what a buyer is told; the reply lasts as long as the answer.
	means func(order, answer) reply
	// cancelled says what became of a cancellation.
	cancelled func(answer) reply
}

// A message is a request with blanks.
type message struct {
	method string
	path   form // with query
	header form // lines that end with \r\n
	body   form
}

// append writes the request as it goes over the wire; scratch is for its body.
func (m *message) append(to, scratch []byte, at *endpoint, p purchase, key []byte, orderID string) (request, body []byte) {
	body = m.body.fill(scratch[:0], p, key, orderID)
	to = append(append(to, m.method...), ' ')
	to = append(to, at.prefix...)
	to = m.path.fill(to, p, key, orderID)
	to = append(to, " HTTP/1.1\r\nHost: "...)
	to = append(append(to, at.host...), "\r\n"...)
	to = m.header.fill(to, p, key, orderID)
	if len(body) > 0 || m.method == "POST" || m.method == "PUT" || m.method == "PATCH" {
		to = append(to, "Content-Length: "...)
		to = append(strconv.AppendInt(to, int64(len(body)), 10), "\r\n"...)
	}
	return append(append(to, "\r\n"...), body...), body
}

// ours is the protocol of this project's service.
func ours(strategy string, byDefault bool) *protocol {
	query := ""
	if !byDefault {
		query = "?" + url.Values{"strategy": {strategy}}.Encode()
	}
	return &protocol{
		buy: message{
			method: "POST",
			path:   form{{text: "/api/v1/seckill" + query}},
			header: form{{text: "Content-Type: application/json\r\nIdempotency-Key: "}, {blank: blankRequestID}, {text: "\r\n"}},
			body: form{{text: `{"sku_id":`}, {blank: blankSKU}, {text: `,"user_id":`}, {blank: blankUser},
				{text: `,"quantity":`}, {blank: blankQuantity}, {text: "}"}},
		},
		cancel:    message{method: "DELETE", path: form{{text: "/api/v1/orders/"}, {blank: blankOrderID}}},
		means:     order.means,
		cancelled: cancelled,
	}
}

// signed adds the buyer's token to every message.
func (p *protocol) signed() {
	line := form{{text: "Authorization: Bearer "}, {blank: blankToken}, {text: "\r\n"}}
	p.buy.header = append(line, p.buy.header...)
	p.cancel.header = append(slices.Clone(line), p.cancel.header...)
}

// headerLine is one header of a message, checked.
func headerLine(name, value string, allowed ...blank) (form, error) {
	for _, c := range name {
		if !strings.ContainsRune("!#$%&'*+-.^_`|~", c) && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return nil, fmt.Errorf("%q is no name of a header", name)
		}
	}
	switch textproto.CanonicalMIMEHeaderKey(name) {
	case "", "Host", "Content-Length", "Transfer-Encoding", "Connection", "Accept-Encoding", "Expect":
		return nil, fmt.Errorf("the header %q cannot be given", name)
	}
	if strings.ContainsAny(value, "\r\n") {
		return nil, fmt.Errorf("the header %s has more than one line", name)
	}
	f, err := parseForm(value, allowed...)
	if err != nil {
		return nil, fmt.Errorf("the header %s: %w", name, err)
	}
	return append(append(form{{text: name + ": "}}, f...), part{text: "\r\n"}), nil
}
