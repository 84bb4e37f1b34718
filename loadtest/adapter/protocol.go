// Package adapter says how a service is asked over HTTP and what its answers
// mean: Ours by its contract, any other Service as a scenario file describes it.
package adapter

import (
	"fmt"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A Protocol is how a service is asked, and what its answers mean.
type Protocol struct {
	Buy    Message
	Cancel Message // zero where orders cannot be cancelled
	Ask    Message // what became of an accepted purchase; zero where that cannot be asked
	Pay    Message // zero unless buyers reserve
	// Bought says what a purchase was told. The reply is valid as long as the
	// response is.
	Bought    func(Order, Response) Reply
	Cancelled func(Response) Reply
	// Became says what a purchase came to in the end; false: it is open.
	Became func(Order, Response) (r Reply, final bool)
	Paid   func(Response) Reply
}

// An Order is what a buyer asks for, and so what a sale must say.
type Order struct {
	SKU, Quantity int64
	Strategy      string
}

// A Message is the template of an HTTP request.
type Message struct {
	Method string
	Path   Template // with the query
	Header Template // lines that end with \r\n
	Body   Template
}

// Append appends the request as it is sent; scratch is reused for its body.
// prefix goes before the path.
func (m *Message) Append(to, scratch []byte, host, prefix string, v *Values) (request, body []byte) {
	body = m.Body.Append(scratch[:0], v)
	to = append(append(to, m.Method...), ' ')
	to = append(to, prefix...)
	to = m.Path.Append(to, v)
	to = append(to, " HTTP/1.1\r\nHost: "...)
	to = append(append(to, host...), "\r\n"...)
	to = m.Header.Append(to, v)
	if len(body) > 0 || m.Method == "POST" || m.Method == "PUT" || m.Method == "PATCH" {
		to = append(to, "Content-Length: "...)
		to = append(strconv.AppendInt(to, int64(len(body)), 10), "\r\n"...)
	}
	return append(append(to, "\r\n"...), body...), body
}

// Ours is the protocol of this project's service. byDefault names no strategy in
// the requests.
func Ours(strategy string, byDefault bool) *Protocol {
	query := ""
	if !byDefault {
		query = "?" + url.Values{"strategy": {strategy}}.Encode()
	}
	p := &Protocol{
		Buy: Message{
			Method: "POST",
			Path:   Template{{text: "/api/v1/seckill" + query}},
			Header: Template{{text: "Content-Type: application/json\r\nIdempotency-Key: "}, {is: RequestID}, {text: "\r\n"}},
			Body: Template{{text: `{"sku_id":`}, {is: SKU}, {text: `,"user_id":`}, {is: User},
				{text: `,"quantity":`}, {is: Quantity}, {text: "}"}},
		},
		Cancel: Message{Method: "DELETE", Path: Template{{text: "/api/v1/orders/"}, {is: OrderID}}},
		Ask: Message{Method: "GET", Path: Template{{text: "/api/v1/orders?user_id="}, {is: User}, {text: "&request_id="}, {is: RequestID},
			{text: "&sku_id="}, {is: SKU}}},
		Bought:    Order.bought,
		Cancelled: cancelled,
		Became:    Order.became,
	}
	return p
}

// InTwoSteps is p for buyers who do not wait for their order.
func (p *Protocol) InTwoSteps() *Protocol {
	two := *p
	two.Buy.Header = slices.Concat(p.Buy.Header, Template{{text: "Prefer: respond-async\r\n"}})
	return &two
}

// headerLine is one checked header of a message.
func headerLine(name, value string, allowed ...Placeholder) (Template, error) {
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
	t, err := ParseTemplate(value, allowed...)
	if err != nil {
		return nil, fmt.Errorf("the header %s: %w", name, err)
	}
	return slices.Concat(Template{{text: name + ": "}}, t, Template{{text: "\r\n"}}), nil
}
