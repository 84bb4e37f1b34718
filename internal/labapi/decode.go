package labapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/gin-gonic/gin"
)

const maxBody = 16 << 10

// decode reads a flat JSON object into fields, by name: *string or a pointer
// to a whole number. It is stricter than encoding/json, which takes the last
// of two members and does not mind the case of a name.
func decode(c *gin.Context, fields map[string]any) *problem {
	if t, _, _ := mime.ParseMediaType(c.GetHeader("Content-Type")); t != "application/json" {
		return &problem{Code: "unsupported_media_type", Status: http.StatusUnsupportedMediaType,
			Detail: "Send JSON, with the header Content-Type: application/json."}
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &problem{Code: "too_large", Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("Send at most %d bytes.", maxBody)}
	case err != nil:
		return invalid("", "The body could not be read to its end.")
	case !json.Valid(body) || len(bytes.TrimSpace(body)) == 0 || bytes.TrimSpace(body)[0] != '{':
		return invalid("", "The body is not one whole JSON object.")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	seen := map[string]bool{}
	for d.Token(); d.More(); { // the body is valid: no call can fail
		token, _ := d.Token()
		name := token.(string)
		var value json.RawMessage
		_ = d.Decode(&value)
		into, known := fields[name]
		switch {
		case !known:
			return invalid(name, "is not a field here")
		case seen[name]:
			return invalid(name, "is given more than once")
		case json.Unmarshal(value, into) != nil || string(value) == "null":
			if _, text := into.(*string); text {
				return invalid(name, "must be a text")
			}
			return invalid(name, "must be a whole number")
		}
		seen[name] = true
	}
	return nil
}

func invalid(name, detail string) *problem {
	p := &problem{Code: "invalid", Status: http.StatusBadRequest, Detail: detail}
	if name != "" {
		p.blame(name, detail)
	}
	return p
}
