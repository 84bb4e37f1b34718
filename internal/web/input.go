package web

import (
	"cmp"
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
	// MaxID is JavaScript's Number.MAX_SAFE_INTEGER. JavaScript may round larger whole numbers.
	MaxID = 1<<53 - 1
)

// ReadJSON reads a body into a struct. The body must be one JSON object. Members without a field,
// repeated members, null and broken UTF-8 are errors. (encoding/json accepts these, and takes
// "SKU_ID" for "sku_id".) Durations are whole nanoseconds. The error is a *Problem.
func ReadJSON(w http.ResponseWriter, r *http.Request, into any) error {
	if !isJSON(r.Header.Get("Content-Type")) || r.Header.Get("Content-Encoding") != "" {
		return &Problem{Code: "unsupported_media_type", Status: http.StatusUnsupportedMediaType,
			Detail: "Send JSON in UTF-8, with the header Content-Type: application/json and no Content-Encoding."}
	}
	body, err := ReadBody(w, r)
	if err != nil {
		return err
	}
	return explainJSON(json.Unmarshal(body, into, strict))
}

var (
	strict = json.JoinOptions(json.RejectUnknownMembers(true), json.WithUnmarshalers(noNull),
		jsonv1.FormatDurationAsNano(true))
	errNull = errors.New("null")
	noNull  = json.UnmarshalFromFunc(func(d *jsontext.Decoder, _ any) error {
		if d.PeekKind() == 'n' {
			return errNull
		}
		return errors.ErrUnsupported // this error tells package json to decode the value itself
	})
)

// BodyTime bounds the time that a request's body may take to arrive.
const BodyTime = 10 * time.Second

// ReadBody reads a body to its end. Until then, net/http does not notice that a caller hangs up.
// The error is a *Problem.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return readBody(w, r, BodyTime)
}

// readBody sets a read deadline for the body and removes it afterwards. A deadline that remains could
// pass while the handler works, and cancel the request's context.
func readBody(w http.ResponseWriter, r *http.Request, limit time.Duration) ([]byte, error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(limit)) // this fails only in tests that have no connection
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		w.Header().Set("Connection", "close") // without this header, net/http would first read the rest of the body
		return nil, &Problem{Code: "too_large", Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("Send at most %d bytes.", MaxBody)}
	case err != nil:
		return nil, BadRequest("The body could not be read to its end.")
	}
	_ = control.SetReadDeadline(time.Time{})
	return body, nil
}

func isJSON(contentType string) bool {
	t, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	return err == nil && t == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

func explainJSON(err error) error {
	var syntax *jsontext.SyntacticError
	var value *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName):
		return Invalid(fieldAt(syntax.JSONPointer), "repeated_field", nil, "is given more than once")
	case errors.As(err, &syntax):
		return BadRequest(fmt.Sprintf("The body is not one whole JSON object: %v, after byte %d.",
			syntax.Err, syntax.ByteOffset))
	case !errors.As(err, &value) || value.JSONPointer == "":
		return BadRequest("The body is not one whole JSON object: send one.")
	}
	field := fieldAt(value.JSONPointer)
	if errors.Is(err, json.ErrUnknownName) {
		return Invalid(field, "unknown_field", nil, "is not a field here")
	}
	if errors.Is(err, errNull) {
		return Invalid(field, "wrong_type", nil, "must not be null")
	}
	return Invalid(field, "wrong_type", nil, "must be "+cmp.Or(kindsInJSON[value.GoType.Kind()], "of another type"))
}

var kindsInJSON = map[reflect.Kind]string{
	reflect.Bool: "true or false", reflect.String: "a string", reflect.Slice: "an array", reflect.Struct: "an object",
	reflect.Int: "a whole number", reflect.Int64: "a whole number", reflect.Float64: "a number"}

// fieldAt returns the name of a place in a body, such as faults[0].kind.
func fieldAt(place jsontext.Pointer) string {
	name := ""
	for token := range place.Tokens() {
		_, err := strconv.Atoi(token)
		switch {
		case name == "":
			name = shortenName(token)
		case err == nil:
			name += "[" + token + "]"
		default:
			name += "." + shortenName(token)
		}
	}
	return name
}

func shortenName(name string) string { return strings.ToValidUTF8(name[:min(len(name), 64)], "") }

// ReadQuery returns the query's parameters. Unknown, repeated and empty parameters are errors: a
// mistyped filter must not select everything.
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
			return nil, Invalid(shortenName(name), "unknown_field", nil,
				"is no parameter here; known are: "+strings.Join(known, ", "))
		case len(values) > 1:
			return nil, Invalid(name, "repeated_field", nil, "is given more than once")
		case values[0] == "":
			return nil, Invalid(name, "missing", nil, "is empty: leave it out or give it a value")
		}
	}
	return q, nil
}

// QueryInteger returns the value of a parameter, which must be a number from low to high. If the
// parameter is missing, it returns fallback.
func QueryInteger(q url.Values, name string, fallback, low, high int64) (int64, error) {
	if !q.Has(name) {
		return fallback, nil
	}
	return ParseInteger(name, q.Get(name), low, high)
}

// ParseInteger parses decimal digits without leading zeros. The number must be from low to high.
func ParseInteger(field, text string, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != text {
		return 0, Invalid(field, "wrong_type", nil, "must be a whole number of 64 bits at most")
	}
	return n, Within(field, n, low, high)
}

// Needed returns *given, a member of a body. If the member is missing, given is nil, and the error is a *Problem.
func Needed(field string, given *int64, low, high int64) (int64, error) {
	if given == nil {
		return 0, Invalid(field, "missing", nil, "is missing")
	}
	return *given, Within(field, *given, low, high)
}

// Within returns a *Problem if n is not from low to high.
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

// IsKey reports whether text can be a request id or an idempotency key: 1 to 128 visible ASCII characters.
func IsKey(text string) bool { return text != "" && Visible(text, 128) == text }

// Visible returns the visible ASCII characters of text, but no more than limit of them.
func Visible(text string, limit int) string {
	visible := make([]byte, 0, limit)
	for i := 0; i < len(text) && len(visible) < limit; i++ {
		if text[i] > ' ' && text[i] <= '~' {
			visible = append(visible, text[i])
		}
	}
	return string(visible)
}
