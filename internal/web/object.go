package web

import (
	"net/http"

	"github.com/go-json-experiment/json"
)

// ReadOver is ReadJSON over a struct that depends on the body: into is called with
// it.
func ReadOver(w http.ResponseWriter, r *http.Request, into func(body []byte) (any, error)) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	value, err := into(body)
	if err != nil {
		return err
	}
	return wrong(json.Unmarshal(body, value, strict))
}
