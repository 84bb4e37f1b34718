// Package measuretest checks that stored results stay readable.
package measuretest

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"seckill/internal/measure"
)

// Keeps reads a result that an older program wrote into v, a pointer to a zero
// value, and fails if writing it again loses or changes a field.
func Keeps(t testing.TB, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := measure.ReadJSON(bytes.NewReader(data), v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var again bytes.Buffer
	if err := measure.WriteJSON(&again, v); err != nil {
		t.Fatal(err)
	}
	var was, is any
	for _, x := range []struct {
		data []byte
		to   *any
	}{{data, &was}, {again.Bytes(), &is}} {
		if err := json.Unmarshal(x.data, x.to); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(was, is) {
		t.Errorf("%s changed when it was read and written again:\n%s", file, &again)
	}
}
