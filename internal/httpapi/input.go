package httpapi

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"seckill/internal/web"
)

// maxID is the largest whole number that JavaScript holds exactly.
const maxID = 1<<53 - 1

// readQuery refuses parameters that are unknown, repeated or empty: a mistyped
// filter must not select everything.
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
			return nil, web.UnknownField("", strings.ToValidUTF8(name, "�"), known...)
		case len(values) > 1:
			return nil, invalid(name, "is given more than once")
		case values[0] == "":
			return nil, invalid(name, "is empty: leave it out or give it a value")
		}
	}
	return q, nil
}

// queryInteger reads a number, or returns fallback when there is none.
func queryInteger(q url.Values, name string, fallback, low, high int64) (int64, error) {
	if !q.Has(name) {
		return fallback, nil
	}
	return web.ParseInteger(name, q.Get(name), low, high)
}
