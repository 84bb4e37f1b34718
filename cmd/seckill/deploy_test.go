package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"seckill/internal/lab/labtest"
)

// docker-compose.yml sets what seckill up reads.
func TestVariablesOfCompose(t *testing.T) {
	variables := map[string]bool{}
	for _, f := range flagsOf(t, &UpCmd{}) {
		for _, name := range f.Envs {
			variables[name] = true
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "docker-compose.yml"))
	labtest.Must(t, err)
	for _, name := range regexp.MustCompile(`SECKILL_[A-Z_]+`).FindAllString(string(text), -1) {
		if !variables[name] {
			t.Errorf("docker-compose.yml sets %s, which seckill up does not read", name)
		}
	}
}
