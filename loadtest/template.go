package loadtest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A blank is what differs from request to request.
type blank byte

const (
	literal blank = iota
	blankSKU
	blankUser
	blankQuantity
	blankRequestID
	blankOrderID
	blankStock
	blankToken
)

var blanks = map[string]blank{"SKU": blankSKU, "User": blankUser, "Quantity": blankQuantity,
	"RequestID": blankRequestID, "OrderID": blankOrderID, "Stock": blankStock}

// A form is a text with blanks, ready to be filled in many times a second.
type form []part

type part struct {
	blank blank
	text  string // when literal
}

var inBraces = regexp.MustCompile(`\{\{\s*(.*?)\s*\}\}`)

// parseForm reads a text with {{.SKU}}, {{.User}}, {{.Quantity}},
// {{.RequestID}} or {{.OrderID}} in it, of those that are allowed.
func parseForm(text string, allowed ...blank) (form, error) {
	var f form
	for at := 0; ; {
		m := inBraces.FindStringSubmatchIndex(text[at:])
		if m == nil {
			if i := strings.Index(text[at:], "{{"); i >= 0 {
				return nil, fmt.Errorf("%q is not closed", excerpt([]byte(text[at+i:])))
			}
			return f.literal(text[at:]), nil
		}
		f = f.literal(text[at : at+m[0]])
		name, dotted := strings.CutPrefix(text[at+m[2]:at+m[3]], ".")
		b, known := blanks[name]
		ok := false
		var may []string
		for _, a := range allowed {
			ok = ok || a == b
			may = append(may, a.String())
		}
		if !dotted || !known || !ok {
			return nil, fmt.Errorf("%s is not known here; there are: %s", text[at+m[0]:at+m[1]], strings.Join(may, ", "))
		}
		f = append(f, part{blank: b})
		at += m[1]
	}
}

func (b blank) String() string {
	for name, known := range blanks {
		if known == b {
			return "{{." + name + "}}"
		}
	}
	return ""
}

func (f form) literal(text string) form {
	if text == "" {
		return f
	}
	return append(f, part{text: text})
}

// A purchase is one request of a run. Its identity is a number; all else
// follows from the seed.
type purchase struct {
	index         int
	sku, quantity int64
	user          int64
	turn          int   // of the target to ask, counted from the request's first
	copied        bool  // it is sent several times at once
	cancels       bool  // the buyer gives back what they get
	stock         int64 // of a reset
	token         string
}

// fill appends the text with its blanks filled in.
func (f form) fill(to []byte, p purchase, key []byte, orderID string) []byte {
	for i := range f {
		switch f[i].blank {
		case literal:
			to = append(to, f[i].text...)
		case blankSKU:
			to = strconv.AppendInt(to, p.sku, 10)
		case blankUser:
			to = strconv.AppendInt(to, p.user, 10)
		case blankQuantity:
			to = strconv.AppendInt(to, p.quantity, 10)
		case blankRequestID:
			to = append(to, key...)
		case blankStock:
			to = strconv.AppendInt(to, p.stock, 10)
		case blankOrderID:
			to = append(to, orderID...)
		case blankToken:
			to = append(to, p.token...)
		}
	}
	return to
}
