package labapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/gin-gonic/gin"
)

const maxBody = 16 << 10

// decode reads exactly one JSON object with no other fields than into has.
func decode(c *gin.Context, into any) *problem {
	if t, _, _ := mime.ParseMediaType(c.ContentType()); t != "application/json" {
		return &problem{Code: "unsupported_media_type", Status: http.StatusUnsupportedMediaType, Detail: "Send application/json."}
	}
	d := json.NewDecoder(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); more == io.EOF {
			return nil
		}
		err = errors.New("there is more after the JSON object")
	}
	p := &problem{Code: "invalid", Status: http.StatusBadRequest, Detail: "The body is not as it should be: " + err.Error() + "."}
	var large *http.MaxBytesError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &large):
		p = &problem{Code: "too_large", Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("Send at most %d bytes.", maxBody)}
	case errors.As(err, &kind) && kind.Field != "":
		what := "a whole number"
		if kind.Type.Kind().String() == "string" {
			what = "a text"
		}
		p.Detail = fmt.Sprintf("%s: must be %s, not %s", kind.Field, what, kind.Value)
		p.Errors = []field{{kind.Field, "must be " + what}}
	case errors.Is(err, io.EOF):
		p.Detail = "The body is empty."
	case errors.Is(err, io.ErrUnexpectedEOF):
		p.Detail = "The body ends in the middle."
	}
	return p
}
