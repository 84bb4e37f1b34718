package labapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

const maxBody = 16 << 10

// fields are where the members of a JSON object go, by name: *string, *[]string,
// a pointer to a whole number, or objects.
type fields map[string]any

// objects makes the fields of the next object of a list.
type objects func() fields

// decode reads a JSON object. It is stricter than encoding/json, which takes
// the last of two members and does not mind the case of a name. What is wrong
// inside of a list is blamed by its place: faults[0].kind.
func decode(c *gin.Context, into fields) *problem {
	if t, _, _ := mime.ParseMediaType(c.GetHeader("Content-Type")); t != "application/json" {
		return &problem{Code: "unsupported_media_type", Status: http.StatusUnsupportedMediaType,
			Detail: "Send JSON, with the header Content-Type: application/json."}
	}
	// Who never ends his request must not keep the lab from stopping. What a
	// whole one asks for may take longer than that.
	control := http.NewResponseController(c.Writer)
	_ = control.SetReadDeadline(time.Now().Add(slowest))
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	if err == nil {
		_ = control.SetReadDeadline(time.Time{})
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &problem{Code: "too_large", Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("Send at most %d bytes.", maxBody)}
	case err != nil:
		return &problem{Code: "invalid", Status: http.StatusBadRequest, Detail: "The body could not be read to its end."}
	case !json.Valid(body) || !begins(body, '{'):
		return &problem{Code: "invalid", Status: http.StatusBadRequest, Detail: "The body is not one whole JSON object."}
	}
	return decodeObject("", body, into)
}

func begins(value []byte, with byte) bool {
	value = bytes.TrimSpace(value)
	return len(value) > 0 && value[0] == with
}

// decodeObject reads an object that is valid JSON; at is what stands before the
// names of its members.
func decodeObject(at string, object []byte, into fields) *problem {
	d := json.NewDecoder(bytes.NewReader(object))
	seen := map[string]bool{}
	for d.Token(); d.More(); { // valid: no call can fail
		token, _ := d.Token()
		name := token.(string)
		var value json.RawMessage
		_ = d.Decode(&value)
		where, known := into[name]
		switch {
		case !known:
			return invalid(at+name, "unknown_field", nil, "is not a field here")
		case seen[name]:
			return invalid(at+name, "repeated_field", nil, "is given more than once")
		}
		if p := decodeValue(at+name, value, where); p != nil {
			return p
		}
		seen[name] = true
	}
	return nil
}

func decodeValue(name string, value json.RawMessage, into any) *problem {
	isNot := func(code, what string) *problem { return invalid(name, code, nil, "must be "+what) }
	next, list := into.(objects)
	switch {
	case list && !begins(value, '['):
		return isNot("not_list", "a list")
	case list:
		return decodeList(name, value, next)
	case string(value) != "null" && json.Unmarshal(value, into) == nil:
		return nil
	}
	switch into.(type) {
	case *string:
		return isNot("not_text", "a text")
	case *[]string:
		return isNot("not_texts", "a list of texts")
	}
	return isNot("not_whole", "a whole number")
}

func decodeList(name string, value json.RawMessage, next objects) *problem {
	var elements []json.RawMessage
	_ = json.Unmarshal(value, &elements) // valid, and a list
	for i, element := range elements {
		at := fmt.Sprintf("%s[%d]", name, i)
		if !begins(element, '{') {
			return invalid(at, "not_object", nil, "must be an object")
		}
		if p := decodeObject(at+".", element, next()); p != nil {
			return p
		}
	}
	return nil
}
