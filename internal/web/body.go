package web

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// BoundBody bounds the body read, so that a slow client cannot block shutdown;
// the answer may take longer. http.Server's ReadTimeout does not fit: when it
// is over, net/http cancels the context of a request that was read long ago.
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
