package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

func TestDoctor(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	labtest.Must(t, DoctorCmd{}.Run(&out))
	if n := len(regexp.MustCompile(`(?m)^ok .+ /.+`).FindAllString(out.String(), -1)); n < len(lab.ServerTools)-1 {
		t.Errorf("the servers that the tests need should be found (run: deploy/deps.sh):\n%s", &out)
	}
	t.Setenv("PATH", "/nowhere")
	t.Setenv("ZOOKEEPER_HOME", "")
	out.Reset()
	labtest.Must(t, DoctorCmd{}.Run(&out))
	for _, line := range regexp.MustCompile(`(?m)^-- +(\S+).*`).FindAllStringSubmatch(out.String(), -1) {
		if !strings.Contains(out.String(), "\n"+line[1]) {
			t.Errorf("%s is missing, and nothing is said of it:\n%s", line[1], &out)
		}
	}
}
