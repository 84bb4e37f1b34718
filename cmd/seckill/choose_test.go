package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// The page's chooser recommends what fits, by the kept matrix and figures. Its module is
// the same in node, which runs testdata/choose.mjs; that prints what is wrong.
func TestChooser(t *testing.T) {
	type listed struct {
		catalog.Info
		Broken bool                 `json:"broken"`
		Needs  []backend.Capability `json:"needs"` // none are a list, too
	}
	var list []listed
	for _, i := range strategies.All() {
		list = append(list, listed{i, i.Broken(), append([]backend.Capability{}, i.Needs...)})
	}
	text, err := json.Marshal(list)
	labtest.Must(t, err)
	node := exec.CommandContext(t.Context(), "node", "cmd/seckill/testdata/choose.mjs")
	node.Dir, node.Stdin = root, bytes.NewReader(text)
	if said, err := node.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("node (if it is missing: deploy/deps.sh --tests): %v\n%.2000s", err, said)
	}
}
