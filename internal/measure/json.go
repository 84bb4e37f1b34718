package measure

import (
	"encoding/json"
	"fmt"
	"io"
)

// maxJSON bounds a result that is read, in bytes; one of all strategies has a
// tenth of it.
const maxJSON = 64 << 20

// ReadJSON reads one result into v.
func ReadJSON(r io.Reader, v any) error {
	data, err := io.ReadAll(io.LimitReader(r, maxJSON+1))
	if err != nil {
		return err
	}
	if len(data) > maxJSON {
		return fmt.Errorf("it is longer than %d MiB", maxJSON>>20)
	}
	return json.Unmarshal(data, v)
}

// WriteJSON writes a result for programs.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
