package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

const (
	// MaxBody bounds the body of every call, in bytes.
	MaxBody = 16 << 10
	// MaxID is the largest whole number that JavaScript holds exactly.
	MaxID = 1<<53 - 1
)

// ReadJSON reads a body that is one JSON object into a struct, whose fields are the
// members that it may have. It is as strict as a purchase needs: encoding/json
// takes "SKU_ID" for "sku_id", the last of two members, null for any value, and
// broken UTF-8. Durations are whole nanoseconds. The error is a *Problem.
func ReadJSON(w http.ResponseWriter, r *http.Request, into any) error {
	body, err := readJSONBody(w, r)
	if err != nil {
		return err
	}
	return wrong(json.Unmarshal(body, into, strict))
}

var (
	strict  = json.JoinOptions(json.RejectUnknownMembers(true), json.WithUnmarshalers(noNull), jsonv1.FormatDurationAsNano(true))
	errNull = errors.New("null")
	noNull  = json.UnmarshalFromFunc(func(d *jsontext.Decoder, _ any) error {
		if d.PeekKind() == 'n' {
			return errNull
		}
		return errors.ErrUnsupported // as usual
	})
)

func readJSONBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if t := r.Header.Get("Content-Type"); t != "application/json" && !isJSON(t) {
		return nil, unsupported("Send JSON in UTF-8, with the header Content-Type: application/json.")
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, unsupported("Send the body as it is, without a Content-Encoding.")
	}
	body, err := ReadBody(w, r)
	if err == nil && len(bytes.TrimSpace(body)) == 0 {
		err = BadRequest("The body is empty: send a JSON object.")
	}
	return body, err
}

// ReadBody reads to the end: only then does net/http notice that a caller hangs up.
// The error is a *Problem.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		w.Header().Set("Connection", "close") // or net/http would wait for the rest before it answers
		return nil, &Problem{Code: "too_large", Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("Send at most %d bytes.", MaxBody)}
	case err != nil:
		return nil, BadRequest("The body could not be read to its end.")
	}
	return body, nil
}

// BodyTime bounds the time that a request's body may take to arrive (BoundBody).
const BodyTime = 10 * time.Second

// BoundBody bounds the read of the body from now on, so that a slow client cannot
// block shutdown; the answer may take longer. http.Server's ReadTimeout does not fit:
// when it is over, net/http cancels the context of a request that was read long ago.
func BoundBody(w http.ResponseWriter, r *http.Request, limit time.Duration) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	control := http.NewResponseController(w)
	if control.SetReadDeadline(time.Now().Add(limit)) == nil {
		r.Body = &boundBody{ReadCloser: r.Body, control: control}
	}
}

type boundBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *boundBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

func isJSON(contentType string) bool {
	t, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	return err == nil && t == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

func unsupported(detail string) *Problem {
	return &Problem{Code: "unsupported_media_type", Status: http.StatusUnsupportedMediaType, Detail: detail}
}

// wrong is nil for nil, else what is wrong with a body.
func wrong(err error) error {
	var syntax *jsontext.SyntacticError
	var value *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName):
		return Invalid(fieldAt(syntax.JSONPointer), "repeated_field", nil, "is given more than once")
	case errors.As(err, &syntax):
		return BadRequest(fmt.Sprintf("The body is not one whole JSON object: %v, after byte %d.", syntax.Err, syntax.ByteOffset))
	case !errors.As(err, &value) || value.JSONPointer == "":
		return BadRequest("The body is not one whole JSON object: send one.")
	}
	field := fieldAt(value.JSONPointer)
	if errors.Is(err, json.ErrUnknownName) {
		return Invalid(field, "unknown_field", nil, "is not a field here; known are: "+strings.Join(members(value.GoType), ", "))
	}
	return Invalid(field, "wrong_type", nil, "must be "+expects(value.GoType))
}

// expects says what a member of a type must be.
func expects(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "an object"
	}
	return "a whole number of 64 bits at most, without fraction or exponent"
}

// members are the names that an object read into a struct may have.
func members(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// fieldAt is a place in a body as people write it, such as faults[0].kind.
func fieldAt(place jsontext.Pointer) (name string) {
	for token := range place.Tokens() {
		switch {
		case name == "":
			name = short(token)
		case isDigits(token):
			name += "[" + token + "]"
		default:
			name += "." + short(token)
		}
	}
	return name
}

// short cuts a name that a caller made up.
func short(name string) string {
	if r := []rune(name); len(r) > 64 {
		return string(r[:64]) + "…"
	}
	return name
}

// ReadQuery refuses parameters that are unknown, repeated or empty: a mistyped
// filter must not select everything.
func ReadQuery(r *http.Request, known ...string) (url.Values, error) {
	if r.URL.RawQuery == "" {
		return nil, nil
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, BadRequest("The query after the question mark cannot be read.")
	}
	for name, values := range q {
		switch {
		case len(known) == 0:
			return nil, BadRequest("No query parameters are known here.")
		case !slices.Contains(known, name):
			return nil, Invalid(short(strings.ToValidUTF8(name, "�")), "unknown_field", nil,
				"is no parameter here; known are: "+strings.Join(known, ", "))
		case len(values) > 1:
			return nil, Invalid(name, "repeated_field", nil, "is given more than once")
		case values[0] == "":
			return nil, Invalid(name, "missing", nil, "is empty: leave it out or give it a value")
		}
	}
	return q, nil
}

// QueryInteger reads a number, or returns fallback when there is none.
func QueryInteger(q url.Values, name string, fallback, low, high int64) (int64, error) {
	if !q.Has(name) {
		return fallback, nil
	}
	return ParseInteger(name, q.Get(name), low, high)
}

// ParseInteger reads decimal digits without leading zeros.
func ParseInteger(field, text string, low, high int64) (int64, error) {
	if !isDigits(strings.TrimPrefix(text, "-")) {
		return 0, Invalid(field, "wrong_type", nil, "must be a whole number without fraction, exponent or sign")
	}
	n, err := strconv.ParseInt(text, 10, 64) // the nearest, if it is out of range
	if err != nil {
		high = min(high, MaxID)
	}
	return n, Within(field, n, low, high)
}

// Needed is the number of a member that must be there.
func Needed(field string, given *int64, low, high int64) (int64, error) {
	if given == nil {
		return 0, Invalid(field, "missing", nil, "is missing")
	}
	return *given, Within(field, *given, low, high)
}

// Within refuses a number out of its range.
func Within(field string, n, low, high int64) error {
	bounds := func() map[string]any { return map[string]any{"min": low, "max": high} }
	switch {
	case n < low:
		return Invalid(field, "range", bounds(), fmt.Sprintf("must be at least %d", low))
	case n > high:
		return Invalid(field, "range", bounds(), fmt.Sprintf("must be at most %d", high))
	}
	return nil
}

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text == "0" || text != "" && text[0] != '0'
}

// IsKey reports whether text can be a request id or an idempotency key: 1 to
// 128 visible ASCII characters.
func IsKey(text string) bool {
	if text == "" || len(text) > 128 {
		return false
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// Visible is text without all but its visible ASCII characters, the first ones at
// most.
func Visible(text string, most int) string {
	visible := make([]byte, 0, most)
	for i := 0; i < len(text) && len(visible) < most; i++ {
		if text[i] > ' ' && text[i] <= '~' {
			visible = append(visible, text[i])
		}
	}
	return string(visible)
}
