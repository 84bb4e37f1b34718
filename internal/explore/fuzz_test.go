package explore_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"seckill/internal/explore"
)

// FuzzReadExample: a file with a schedule to replay is refused, or it is what Write
// writes of it.
func FuzzReadExample(f *testing.F) {
	kept, err := filepath.Glob("../../web/guarantees/*.*.json")
	if err != nil || len(kept) == 0 {
		f.Fatalf("%d counterexamples are kept (%v)", len(kept), err)
	}
	for _, file := range kept[:min(5, len(kept))] {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"format":1}`))
	f.Add([]byte(`{"format":1,"scenario":{"stock":1,"buyers":[{"name":"A","process":0,"quantity":1}]},"steps":[{"who":"A"}]} {}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := explore.ReadExample(bytes.NewReader(data))
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if err := e.Write(&first); err != nil {
			t.Fatalf("it cannot be written: %v", err)
		}
		again, err := explore.ReadExample(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("what was written is refused: %v\n%s", err, first.String())
		}
		if err := again.Write(&second); err != nil || first.String() != second.String() {
			t.Fatalf("written again it is\n%s\nnot\n%s", second.String(), first.String())
		}
	})
}
