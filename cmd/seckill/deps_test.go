package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seckill/internal/packages"
)

// fakeMachine has a package manager that knows some packages, more once its
// lists were refreshed, and installs what it is told to.
type fakeMachine struct {
	missing      []packages.Tool
	known, fresh []string
	fails        int // installs that fail before one works
	ran          []string
	asked        int
	answer       bool
}

var brings = map[string]packages.Tool{"redis": packages.Redis, "etcd": packages.Etcd, "mariadb": packages.MariaDB}

func (m *fakeMachine) installer(out *bytes.Buffer, c DepsCmd, terminal bool) installer {
	return installer{
		DepsCmd: c, out: out,
		missing: func() []packages.Tool { return slices.Clone(m.missing) },
		situation: packages.Situation{
			OnPath:   func(program string) bool { return program == "apk" },
			Knows:    func(question []string) bool { return slices.Contains(m.known, question[len(question)-1]) },
			Root:     true,
			Terminal: terminal, Yes: c.Yes,
		},
		run: m.run,
		yes: func() bool {
			m.asked++
			return m.answer
		},
	}
}

func (m *fakeMachine) run(command []string) error {
	m.ran = append(m.ran, strings.Join(command, " "))
	if command[1] == "update" {
		m.known = append(m.known, m.fresh...)
		return nil
	}
	if m.fails > 0 {
		m.fails--
		return errors.New("exit status 1")
	}
	for _, name := range command[2:] {
		m.missing = slices.DeleteFunc(m.missing, func(n packages.Tool) bool { return n == brings[name] })
	}
	return nil
}

func TestDeps(t *testing.T) {
	both := []string{"redis", "etcd"}
	for _, c := range []struct {
		name     string
		machine  fakeMachine
		cmd      DepsCmd
		terminal bool
		ran      string
		asked    int
		says     string
		err      string
	}{
		{name: "nothing missing", says: "Everything that is needed is installed"},
		{name: "no terminal", machine: fakeMachine{missing: []packages.Tool{packages.Redis, packages.Etcd}, known: both},
			ran: "apk add redis etcd", says: "Installed: Redis, etcd."},
		{name: "the answer is yes", machine: fakeMachine{missing: []packages.Tool{packages.Etcd}, known: both, answer: true},
			terminal: true, asked: 1, ran: "apk add etcd"},
		{name: "the answer is no", machine: fakeMachine{missing: []packages.Tool{packages.Etcd}, known: both},
			terminal: true, asked: 1, err: "--embedded"},
		{name: "--yes", machine: fakeMachine{missing: []packages.Tool{packages.Etcd}, known: both},
			cmd: DepsCmd{Yes: true}, terminal: true, ran: "apk add etcd"},
		{name: "empty lists", machine: fakeMachine{missing: []packages.Tool{packages.Etcd}, fresh: both},
			ran: "apk update; apk add etcd"},
		{name: "lists too old", machine: fakeMachine{missing: []packages.Tool{packages.Etcd}, known: both, fails: 1},
			ran: "apk add etcd; apk update; apk add etcd"},
		{name: "it fails", machine: fakeMachine{missing: []packages.Tool{packages.Etcd}, known: both, fails: 9},
			ran: "apk add etcd; apk update; apk add etcd", err: "apk add failed", says: "github.com/etcd-io"},
		{name: "no package", machine: fakeMachine{missing: []packages.Tool{packages.Etcd, packages.ZooKeeper}, known: both},
			ran: "apk add etcd", err: "still missing: ZooKeeper", says: "ZOOKEEPER_HOME"},
		{name: "--dry-run", machine: fakeMachine{missing: []packages.Tool{packages.Etcd}, known: both},
			cmd: DepsCmd{DryRun: true}, terminal: true, says: "apk add etcd"},
	} {
		var out bytes.Buffer
		err := c.machine.installer(&out, c.cmd, c.terminal).install()
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
		if got := strings.Join(c.machine.ran, "; "); got != c.ran {
			t.Errorf("%s: ran %q, want %q", c.name, got, c.ran)
		}
		if c.machine.asked != c.asked {
			t.Errorf("%s: asked %d times, want %d", c.name, c.machine.asked, c.asked)
		}
		if !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: said %q, want %q in it", c.name, out.String(), c.says)
		}
	}
}

func TestAnswers(t *testing.T) {
	for text, want := range map[string]bool{"\n": true, "y\n": true, "YES\n": true, "n\n": false, "what\n": false, "": false} {
		if got := saysYes(t.Context(), strings.NewReader(text)); got != want {
			t.Errorf("%q means %v, want %v", text, got, want)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if saysYes(gone, blocked{}) {
		t.Error("Ctrl-C at the question means yes")
	}
}

type blocked struct{}

func (blocked) Read([]byte) (int, error) { select {} }

func TestDoctor(t *testing.T) {
	t.Setenv("SECKILL_STATE", t.TempDir())
	var out bytes.Buffer
	if err := (DoctorCmd{JSON: true}).Run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	var findings []finding
	if err := json.Unmarshal(out.Bytes(), &findings); err != nil {
		t.Fatal(err)
	}
	for _, f := range findings[:4] { // the servers, which the tests need
		if !f.Found || f.Version == "" || f.Where == "" {
			t.Errorf("%+v: want it found, with a version (run: seckill deps)", f)
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
		if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
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

func TestDoctorsTable(t *testing.T) {
	missing := program(t.Context(), packages.Program{Name: "ZooKeeper", Get: "seckill deps",
		Lacks: []packages.Tool{packages.ZooKeeper, packages.Java}})
	var out bytes.Buffer
	if err := writeFindings(&out, []finding{missing, {What: "Redis", Found: true, Version: "Redis 7", Where: "/bin/redis"}}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	column := strings.Index(lines[0], "VERSION")
	if !strings.HasPrefix(lines[1], "--  ZooKeeper") || lines[1][column] != '-' || !strings.HasPrefix(lines[2][column:], "Redis 7") {
		t.Errorf("the table is\n%s", out.String())
	}
	for _, want := range []string{"seckill deps", "ZOOKEEPER_HOME", "adoptium"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out.String())
		}
	}
}
