package adapter

import "bytes"

// fields reads a flat object as our own service writes it, in one pass without
// allocating. It gives up on everything else, which encoding/json then reads.
type fields struct {
	orderID, strategy, code, title, detail []byte
	sku, quantity, remaining               number
}

type number struct {
	value int64
	seen  bool
}

// read fills in the fields. ok is false when the body is anything but a flat
// object of the fields that we know, each once, in plain ASCII.
func (f *fields) read(body []byte) (ok bool) {
	*f = fields{}
	s := scanner{body}
	if !s.take('{') {
		return false
	}
	for first := true; ; first = false {
		if first && s.take('}') {
			return s.atEnd()
		}
		name, ok := s.text()
		if !ok || !s.take(':') {
			return false
		}
		switch string(name) {
		case "order_id":
			ok = s.once(&f.orderID)
		case "strategy":
			ok = s.once(&f.strategy)
		case "code":
			ok = s.once(&f.code)
		case "title":
			ok = s.once(&f.title)
		case "detail":
			ok = s.once(&f.detail)
		case "type", "instance", "request_id", "ask":
			_, ok = s.text()
		case "sku_id":
			ok = s.number(&f.sku)
		case "quantity":
			ok = s.number(&f.quantity)
		case "remaining":
			ok = s.number(&f.remaining)
		case "status":
			var skipped number
			ok = s.number(&skipped)
		default:
			return false
		}
		switch {
		case !ok:
			return false
		case s.take(','):
		case s.take('}'):
			return s.atEnd()
		default:
			return false
		}
	}
}

// A scanner is what is left of a body.
type scanner struct{ rest []byte }

func (s *scanner) skipSpace() {
	for len(s.rest) > 0 && (s.rest[0] == ' ' || s.rest[0] == '\n' || s.rest[0] == '\r' || s.rest[0] == '\t') {
		s.rest = s.rest[1:]
	}
}

func (s *scanner) take(c byte) bool {
	if s.skipSpace(); len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func (s *scanner) atEnd() bool {
	s.skipSpace()
	return len(s.rest) == 0
}

// text reads a string without escapes.
func (s *scanner) text() (text []byte, ok bool) {
	if !s.take('"') {
		return nil, false
	}
	end := bytes.IndexByte(s.rest, '"')
	if end < 0 {
		return nil, false
	}
	text = s.rest[:end:end]
	for _, c := range text {
		if c < ' ' || c == '\\' || c >= 0x7f {
			return nil, false
		}
	}
	s.rest = s.rest[end+1:]
	return text, true
}

func (s *scanner) once(into *[]byte) bool {
	text, ok := s.text()
	if *into != nil || len(text) == 0 {
		return false
	}
	*into = text
	return ok
}

// number reads a whole number as JSON has it.
func (s *scanner) number(into *number) bool {
	s.skipSpace()
	minus := len(s.rest) > 0 && s.rest[0] == '-'
	if minus {
		s.rest = s.rest[1:]
	}
	n, digits := int64(0), 0
	for digits < len(s.rest) && '0' <= s.rest[digits] && s.rest[digits] <= '9' {
		if digits == 18 { // one more might overflow
			return false
		}
		n = 10*n + int64(s.rest[digits]-'0')
		digits++
	}
	if into.seen || digits == 0 || digits > 1 && s.rest[0] == '0' {
		return false
	}
	s.rest = s.rest[digits:] // what makes it no whole number, the caller trips over
	if minus {
		n = -n
	}
	*into = number{n, true}
	return true
}
