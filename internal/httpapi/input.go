package httpapi

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

const (
	maxBody = 16 << 10
	// maxID is the largest whole number that JavaScript holds exactly.
	maxID = 1<<53 - 1
)

// readBody reads a JSON body. It must be read to its end: only then does
// net/http notice that a caller hangs up.
func readBody(c *gin.Context) ([]byte, error) {
	if t := c.GetHeader("Content-Type"); t != "application/json" && !isJSON(t) {
		return nil, refused(errMediaType, "Send JSON in UTF-8, with the header Content-Type: application/json.")
	}
	if e := c.GetHeader("Content-Encoding"); e != "" && e != "identity" {
		return nil, refused(errMediaType, "Send the body as it is, without a Content-Encoding.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		c.Header("Connection", "close") // or net/http would wait for the rest before it answers
		return nil, refused(errTooLarge, fmt.Sprintf("Send at most %d bytes.", maxBody))
	case err != nil:
		return nil, invalid("", "The body could not be read to its end.")
	}
	return body, nil
}

func isJSON(contentType string) bool {
	t, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	return err == nil && t == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

// readQuery refuses every parameter that is not among known, that comes twice
// or that is empty: a filter that was mistyped must not select everything.
func readQuery(c *gin.Context, known ...string) (url.Values, error) {
	if c.Request.URL.RawQuery == "" {
		return nil, nil
	}
	q, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return nil, invalid("", "The query after the question mark cannot be read.")
	}
	for name, values := range q {
		switch {
		case !slices.Contains(known, name):
			if len(known) == 0 {
				return nil, invalid("", "No query parameters are known here.")
			}
			return nil, unknownParameter(name, known)
		case len(values) > 1:
			return nil, invalid(name, "is given more than once")
		case values[0] == "":
			return nil, invalid(name, "is empty: leave it out or give it a value")
		}
	}
	return q, nil
}

func unknownParameter(name string, known []string) error {
	return unknownField(strings.ToValidUTF8(name, "�"), known...)
}

// queryInteger reads an optional number; fallback when it is not there.
func queryInteger(q url.Values, name string, fallback, low, high int64) (int64, error) {
	if !q.Has(name) {
		return fallback, nil
	}
	return parseInteger(name, q.Get(name), low, high)
}
