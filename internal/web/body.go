// Package web is what the service's HTTP server and the page's have in common.
package web

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// BoundBody gives a request's body this long to arrive, and its answer as long
// as it takes. http.Server's ReadTimeout will not do for that: when it is over
// net/http cancels the context of a request that was read long ago.
func BoundBody(limit time.Duration, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			control := http.NewResponseController(w)
			if control.SetReadDeadline(time.Now().Add(limit)) == nil {
				r.Body = &boundBody{ReadCloser: r.Body, control: control}
			}
		}
		h.ServeHTTP(w, r)
	})
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
