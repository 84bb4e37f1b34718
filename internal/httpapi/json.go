package httpapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// readObject reads a JSON object whose values are numbers and texts, and gives
// each member to set. It is as strict as a purchase needs and encoding/json is
// not: that takes "SKU_ID" for "sku_id", the last of two, and broken UTF-8.
// set must refuse every value that is neither a number nor a text: those are
// not read any further.
func readObject(body []byte, set func(name string, v value) error) error {
	s := scanner{body: body}
	if !utf8.Valid(body) {
		return invalid("", "The body is not UTF-8.")
	}
	if s.atEnd() {
		return invalid("", "The body is empty: send a JSON object.")
	}
	if !s.take('{') {
		return s.expected("a JSON object")
	}
	var few [4]string
	seen := few[:0]
	for !s.take('}') {
		if len(seen) > 0 && !s.take(',') {
			return s.expected("a comma or the end of the object")
		}
		name, err := s.text()
		if err != nil {
			return err
		}
		if !s.take(':') {
			return s.expected("a colon")
		}
		v, err := s.value()
		if err != nil {
			return err
		}
		if slices.Contains(seen, name) {
			return invalid(name, "is given more than once")
		}
		seen = append(seen, name)
		if err := set(name, v); err != nil {
			return err
		}
	}
	if !s.atEnd() {
		return s.expected("nothing more after the object")
	}
	return nil
}

// unknownField refuses a member that nobody asked for.
func unknownField(name string, known ...string) error {
	for _, k := range known {
		if strings.EqualFold(k, name) {
			return invalid(name, "must be written "+k)
		}
	}
	if r := []rune(name); len(r) > 64 {
		name = string(r[:64]) + "…"
	}
	return invalid(name, "is not a field here; known are: "+strings.Join(known, ", "))
}

// A value is a number or a text as the body has it, or something else that
// kind names.
type value struct {
	kind string
	raw  []byte
}

const (
	kindNumber = "a number"
	kindText   = "a text"
)

// integer refuses what JavaScript would round off or round up: 1.0, 1e3, "1".
func (v value) integer(field string, low, high int64) (int64, error) {
	if v.kind != kindNumber {
		return 0, invalid(field, "must be a whole number, not "+v.kind)
	}
	return parseInteger(field, string(v.raw), low, high)
}

func (v value) text(field string) (string, error) {
	if v.kind != kindText {
		return "", invalid(field, "must be a text, not "+v.kind)
	}
	return unquote(v.raw), nil
}

// parseInteger reads decimal digits without a sign or leading zeros.
func parseInteger(field, text string, low, high int64) (int64, error) {
	digits := strings.TrimPrefix(text, "-")
	if !isDigits(digits) {
		return 0, invalid(field, "must be a whole number without fraction, exponent or sign")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case digits != text || err == nil && n < low:
		return 0, invalid(field, fmt.Sprintf("must be at least %d", low))
	case err != nil || n > high:
		return 0, invalid(field, fmt.Sprintf("must be at most %d", high))
	}
	return n, nil
}

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text == "0" || text != "" && text[0] != '0'
}

type scanner struct {
	body []byte
	at   int
}

func (s *scanner) atEnd() bool {
	for s.at < len(s.body) && strings.IndexByte(" \t\r\n", s.body[s.at]) >= 0 {
		s.at++
	}
	return s.at == len(s.body)
}

func (s *scanner) take(b byte) bool {
	if s.atEnd() || s.body[s.at] != b {
		return false
	}
	s.at++
	return true
}

func (s *scanner) expected(what string) error {
	if s.atEnd() {
		return invalid("", fmt.Sprintf("The body ends where %s was expected.", what))
	}
	return invalid("", fmt.Sprintf("The body is not the JSON that is asked for: %s was expected at byte %d.", what, s.at))
}

func (s *scanner) text() (string, error) {
	if s.atEnd() || s.body[s.at] != '"' {
		return "", s.expected("a field name in double quotes")
	}
	v, err := s.value()
	return unquote(v.raw), err
}

func (s *scanner) value() (value, error) {
	if s.atEnd() {
		return value{}, s.expected("a value")
	}
	from := s.at
	switch b := s.body[s.at]; {
	case b == '"':
		return s.quoted()
	case b == '{':
		return value{kind: "an object"}, nil
	case b == '[':
		return value{kind: "an array"}, nil
	case b == '-' || b >= '0' && b <= '9':
		for s.at < len(s.body) && strings.IndexByte("+-.eE0123456789", s.body[s.at]) >= 0 {
			s.at++
		}
		if raw := s.body[from:s.at]; isDigits(string(raw)) || json.Valid(raw) {
			return value{kindNumber, raw}, nil
		}
	}
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(string(s.body[from:min(len(s.body), from+len(word))]), word) {
			s.at = from + len(word)
			return value{kind: word}, nil
		}
	}
	s.at = from
	return value{}, s.expected("a value")
}

// quoted leaves the quotes and the escapes in.
func (s *scanner) quoted() (value, error) {
	from := s.at
	for i := from + 1; i < len(s.body); i++ {
		switch b := s.body[i]; {
		case b == '\\':
			i++
		case b < ' ':
			s.at = i
			return value{}, s.expected("an escape instead of a control character")
		case b == '"':
			raw := s.body[from : i+1]
			if strings.IndexByte(string(raw), '\\') >= 0 && !json.Valid(raw) {
				return value{}, s.expected("a text without unknown escapes")
			}
			s.at = i + 1
			return value{kindText, raw}, nil
		}
	}
	s.at = len(s.body)
	return value{}, s.expected("the end of a text")
}

func unquote(raw []byte) string {
	if len(raw) < 2 {
		return ""
	}
	if plain := string(raw[1 : len(raw)-1]); strings.IndexByte(plain, '\\') < 0 {
		return plain
	}
	var text string
	_ = json.Unmarshal(raw, &text) // quoted has seen that it is valid
	return text
}
