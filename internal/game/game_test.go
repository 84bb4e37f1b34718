package game_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/internal/web"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// show is a state, to be read.
func show(s game.State) string {
	text, _ := json.MarshalIndent(s, "", "  ")
	return string(text)
}

func code(err error) string {
	var m *web.Problem
	if !errors.As(err, &m) {
		return ""
	}
	return m.Code
}
