package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxBody bounds the body of every call, in bytes.
const MaxBody = 16 << 10

// A Field is a member that a JSON object may have.
type Field struct {
	Name string
	// Into takes the value: *int64, *int, *string, *[]int, *[]string, Objects, or a
	// func(string) error for a text that is checked.
	Into     any
	Min, Max int64 // of a number; both 0: whatever Into holds
	Required bool
}

// Objects is a list of objects: it returns the fields of the next one.
type Objects func() []Field

// ReadJSON reads a body that is one JSON object of these fields. It is as
// strict as a purchase needs: encoding/json takes "SKU_ID" for "sku_id", the
// last of two members, and broken UTF-8. The error is a *Problem.
// BenchmarkReadJSON compares it with encoding/json, on a purchase's body.
func ReadJSON(w http.ResponseWriter, r *http.Request, fields ...Field) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return BadRequest("The body is empty: send a JSON object.")
	}
	d := decoder{jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true))} // object finds them
	if kind := d.PeekKind(); kind != '{' && kinds[kind] != "" {
		return BadRequest("The body is not one whole JSON object, but " + kinds[kind] + ".")
	}
	if err := d.object("", fields); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return BadRequest(fmt.Sprintf("The body is not one whole JSON object: nothing more may follow, after byte %d.", d.InputOffset()))
	}
	return nil
}

// readBody reads to the end: only then does net/http notice that a caller
// hangs up.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if t := r.Header.Get("Content-Type"); t != "application/json" && !isJSON(t) {
		return nil, unsupported("Send JSON in UTF-8, with the header Content-Type: application/json.")
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, unsupported("Send the body as it is, without a Content-Encoding.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	return body, unread(w, err)
}

func unread(w http.ResponseWriter, err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		w.Header().Set("Connection", "close") // or net/http would wait for the rest before it answers
		return &Problem{Code: "too_large", Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("Send at most %d bytes.", MaxBody)}
	case err != nil:
		return BadRequest("The body could not be read to its end.")
	}
	return nil
}

func isJSON(contentType string) bool {
	t, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	return err == nil && t == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

func unsupported(detail string) *Problem {
	return &Problem{Code: "unsupported_media_type", Status: http.StatusUnsupportedMediaType, Detail: detail}
}

// kinds says what a value is; all other kinds are no JSON.
var kinds = map[jsontext.Kind]string{'"': "a text", '0': "a number", '{': "an object", '[': "an array",
	't': "true", 'f': "false", 'n': "null"}

// A decoder's methods take the name of what they read, such as faults[0].kind.
type decoder struct{ *jsontext.Decoder }

// object reads the members of an object; at comes before their names.
func (d decoder) object(at string, fields []Field) error {
	if _, err := d.ReadToken(); err != nil { // {
		return wrong(err)
	}
	given := uint64(0) // a bit for each field
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return wrong(err)
		}
		name := token.String()
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		switch {
		case i < 0:
			return UnknownField(at, name, names(fields)...)
		case given&(1<<i) != 0:
			return Invalid(at+name, "repeated_field", nil, "is given more than once")
		}
		if err := d.value(at+name, &fields[i]); err != nil {
			return err
		}
		given |= 1 << i
	}
	for i, f := range fields {
		if f.Required && given&(1<<i) == 0 {
			return Invalid(at+f.Name, "missing", nil, "is missing")
		}
	}
	_, err := d.ReadToken() // }
	return wrong(err)
}

func names(fields []Field) (all []string) {
	for _, f := range fields {
		all = append(all, f.Name)
	}
	return all
}

func (d decoder) value(name string, f *Field) (err error) {
	var n int64
	switch into := f.Into.(type) {
	case *int64:
		*into, err = d.integer(name, f)
	case *int:
		n, err = d.integer(name, f)
		*into = int(n)
	case *string:
		*into, err = d.text(name, "not_text", "a text")
	case func(string) error:
		var text string
		if text, err = d.text(name, "not_text", "a text"); err == nil {
			err = into(text)
		}
	case *[]int:
		*into = []int{}
		err = d.list(name, "not_numbers", "a list of whole numbers", func(int) error {
			n, err := d.integer(name, f)
			*into = append(*into, int(n))
			return err
		})
	case *[]string:
		*into = []string{}
		err = d.list(name, "not_texts", "a list of texts", func(int) error {
			text, err := d.text(name, "not_texts", "a list of texts")
			*into = append(*into, text)
			return err
		})
	case Objects:
		err = d.list(name, "not_list", "a list", func(i int) error {
			at := fmt.Sprintf("%s[%d]", name, i)
			if err := d.must('{', at, "not_object", "an object"); err != nil {
				return err
			}
			return d.object(at+".", into())
		})
	default:
		panic(fmt.Sprintf("the field %s cannot go into a %T", name, into))
	}
	return err
}

// integer refuses what JavaScript would round off or round up: 1.0, 1e3, "1".
func (d decoder) integer(name string, f *Field) (int64, error) {
	if err := d.must('0', name, "not_whole", "a whole number"); err != nil {
		return 0, err
	}
	token, err := d.ReadToken()
	if err != nil {
		return 0, wrong(err)
	}
	low, high := f.Min, f.Max
	if low == 0 && high == 0 {
		low, high = math.MinInt64, math.MaxInt64
	}
	return ParseInteger(name, token.String(), low, high)
}

func (d decoder) text(name, code, what string) (string, error) {
	if err := d.must('"', name, code, what); err != nil {
		return "", err
	}
	token, err := d.ReadToken()
	if err != nil {
		return "", wrong(err)
	}
	return token.String(), nil
}

func (d decoder) list(name, code, what string, next func(i int) error) error {
	if err := d.must('[', name, code, what); err != nil {
		return err
	}
	_, err := d.ReadToken() // [
	for i := 0; err == nil && d.PeekKind() != ']'; i++ {
		if err := next(i); err != nil {
			return err
		}
	}
	if err == nil {
		_, err = d.ReadToken() // ]
	}
	return wrong(err)
}

// must checks the kind of the next value.
func (d decoder) must(want jsontext.Kind, name, code, what string) error {
	kind := d.PeekKind()
	if kind == want {
		return nil
	}
	if kinds[kind] == "" {
		_, err := d.ReadToken()
		return wrong(err)
	}
	return Invalid(name, code, nil, "must be "+what+", not "+kinds[kind])
}

// wrong is nil for nil, else what is wrong with the JSON itself.
func wrong(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return BadRequest("The body is not one whole JSON object: it ends too early.")
	case errors.As(err, &syntax):
		return BadRequest(fmt.Sprintf("The body is not one whole JSON object: %v, after byte %d.", syntax.Err, syntax.ByteOffset))
	}
	return BadRequest("The body is not one whole JSON object: " + err.Error())
}

// UnknownField refuses a name that is not among known; at comes before it.
func UnknownField(at, name string, known ...string) error {
	for _, k := range known {
		if strings.EqualFold(k, name) {
			return Invalid(at+name, "unknown_field", nil, "must be written "+k)
		}
	}
	return Invalid(at+short(name), "unknown_field", nil, "is not a field here; known are: "+strings.Join(known, ", "))
}

// short cuts a name that a caller made up.
func short(name string) string {
	if r := []rune(name); len(r) > 64 {
		return string(r[:64]) + "…"
	}
	return name
}

// ParseInteger reads decimal digits without leading zeros.
func ParseInteger(field, text string, low, high int64) (int64, error) {
	if !isDigits(strings.TrimPrefix(text, "-")) {
		return 0, Invalid(field, "not_whole", nil, "must be a whole number without fraction, exponent or sign")
	}
	n, err := strconv.ParseInt(text, 10, 64) // the nearest, if it is out of range
	bounds := func() map[string]any { return map[string]any{"min": low, "max": high} }
	switch {
	case n < low:
		return 0, Invalid(field, "range", bounds(), fmt.Sprintf("must be at least %d", low))
	case n > high:
		return 0, Invalid(field, "range", bounds(), fmt.Sprintf("must be at most %d", high))
	case err != nil:
		return 0, Invalid(field, "not_whole", nil, "must be a whole number of 64 bits")
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
