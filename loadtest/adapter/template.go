package adapter

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Values fill the placeholders of a Template.
type Values struct {
	SKU, User, Quantity, Stock int64
	RequestID                  []byte
	OrderID                    string
}

// A Placeholder stands for what differs between requests.
type Placeholder byte

const (
	literal Placeholder = iota
	SKU
	User
	Quantity
	RequestID
	OrderID
	Stock
)

var placeholders = map[string]Placeholder{"SKU": SKU, "User": User, "Quantity": Quantity,
	"RequestID": RequestID, "OrderID": OrderID, "Stock": Stock}

func (p Placeholder) String() string {
	for name, known := range placeholders {
		if known == p {
			return "{{." + name + "}}"
		}
	}
	return ""
}

// A Template is a text with placeholders, parsed once and filled many times a
// second.
type Template []part

type part struct {
	is   Placeholder
	text string // of a literal
}

var inBraces = regexp.MustCompile(`\{\{\s*(.*?)\s*\}\}`)

// ParseTemplate reads a text with placeholders such as {{.SKU}}; the error names
// the first that is not allowed.
func ParseTemplate(text string, allowed ...Placeholder) (Template, error) {
	var t Template
	for at := 0; ; {
		m := inBraces.FindStringSubmatchIndex(text[at:])
		if m == nil {
			if i := strings.Index(text[at:], "{{"); i >= 0 {
				return nil, fmt.Errorf("%q is not closed", Excerpt([]byte(text[at+i:])))
			}
			return t.literal(text[at:]), nil
		}
		t = t.literal(text[at : at+m[0]])
		name, dotted := strings.CutPrefix(text[at+m[2]:at+m[3]], ".")
		p, known := placeholders[name]
		ok := false
		var may []string
		for _, a := range allowed {
			ok = ok || a == p
			may = append(may, a.String())
		}
		if !dotted || !known || !ok {
			return nil, fmt.Errorf("%s is not known here; there are: %s", text[at+m[0]:at+m[1]], strings.Join(may, ", "))
		}
		t = append(t, part{is: p})
		at += m[1]
	}
}

func (t Template) literal(text string) Template {
	if text == "" {
		return t
	}
	return append(t, part{text: text})
}

// Append appends the filled text.
func (t Template) Append(to []byte, v *Values) []byte {
	for i := range t {
		switch t[i].is {
		case literal:
			to = append(to, t[i].text...)
		case SKU:
			to = strconv.AppendInt(to, v.SKU, 10)
		case User:
			to = strconv.AppendInt(to, v.User, 10)
		case Quantity:
			to = strconv.AppendInt(to, v.Quantity, 10)
		case Stock:
			to = strconv.AppendInt(to, v.Stock, 10)
		case RequestID:
			to = append(to, v.RequestID...)
		case OrderID:
			to = append(to, v.OrderID...)
		}
	}
	return to
}
