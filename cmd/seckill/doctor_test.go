package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDoctor(t *testing.T) {
	t.Setenv("SECKILL_STATE", t.TempDir())
	var out bytes.Buffer
	must(t, (DoctorCmd{JSON: true}).Run(t.Context(), &out))
	var findings []finding
	must(t, json.Unmarshal(out.Bytes(), &findings))
	for _, f := range findings[:4] { // the servers, which the tests need
		if !f.Found || f.Version == "" || f.Where == "" {
			t.Errorf("%+v: want it found, with a version (run: deploy/deps.sh)", f)
		}
	}
	for _, f := range findings {
		if !f.Found && f.ToDo == "" {
			t.Errorf("%+v: not found, and nothing to do about it", f)
		}
	}
}

// It says which admin token a service would go by, and what is to be done.
func TestDoctorsToken(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		must(t, errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)))
		return path
	}
	good := file("good", "t0psecret\n", 0o600)
	for _, test := range []struct {
		token, file string
		found       bool
		where, todo string
	}{
		{"", "", false, "", "makes one at its start"},
		{"t0psecret", "", true, "SECKILL_TOKEN", ""},
		{"", good, true, good, ""},
		{"", folder + "/none", false, folder + "/none", "is not there yet"},
		{"", file("open", "t0psecret\n", 0o644), false, folder + "/open", "chmod 600"},
		{"t0psecret", good, false, "SECKILL_TOKEN", "give one of them"},
	} {
		t.Setenv("SECKILL_TOKEN", test.token)
		t.Setenv("SECKILL_TOKEN_FILE", test.file)
		f := adminToken()
		if f.Found != test.found || f.Where != test.where || !strings.Contains(f.ToDo, test.todo) || (f.ToDo == "") != (test.todo == "") {
			t.Errorf("%+v: %+v", test, f)
		}
		if strings.Contains(fmt.Sprint(f), "t0psecret") {
			t.Errorf("it shows the token: %+v", f)
		}
	}
}
