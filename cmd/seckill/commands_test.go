package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/loadtest"
)

func TestDoctor(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	labtest.Must(t, DoctorCmd{}.Run(t.Context(), &out))
	if n := len(regexp.MustCompile(`(?m)^ok .+ /.+`).FindAllString(out.String(), -1)); n < len(lab.ServerTools)-1 {
		t.Errorf("the servers that the tests need should be found (run: deploy/deps.sh):\n%s", &out)
	}
	t.Setenv("PATH", "/nowhere")
	t.Setenv("ZOOKEEPER_HOME", "")
	out.Reset()
	labtest.Must(t, DoctorCmd{}.Run(t.Context(), &out))
	for _, line := range regexp.MustCompile(`(?m)^-- +(\S+).*`).FindAllStringSubmatch(out.String(), -1) {
		labtest.Contains(t, out.String(), "\n"+line[1], "the advice for %s, which is missing,", line[1])
	}
	// With given servers, as in a container, there is nothing to install. They must answer.
	out.Reset()
	err := DoctorCmd{Given: backend.Config{RedisAddrs: []string{"127.0.0.1:1"}}}.Run(t.Context(), &out)
	labtest.Fails(t, err, "127.0.0.1:1 cannot be used", "a given server that does not run")
	labtest.Contains(t, out.String(), "Servers were given", "what it says where servers are given")
	labtest.Same(t, strings.Contains(out.String(), "deps.sh"), false, "it names deps.sh where servers are given")
}

func TestWhereTheHistoryIs(t *testing.T) {
	data, home, given := t.TempDir(), t.TempDir(), t.TempDir()
	for name, c := range map[string]struct {
		data, home string
		flag       *string
		want, said string
	}{
		"the system's folder": {data, home, nil, filepath.Join(data, "seckill"), ""},
		"home":                {"", home, nil, filepath.Join(home, ".local", "share", "seckill"), ""},
		"no home":             {"", "", nil, "", "--history DIR keeps them"},
		"--history":           {data, home, &given, given, ""},
		"--history=":          {data, home, new(""), "", ""},
	} {
		t.Setenv("XDG_DATA_HOME", c.data)
		t.Setenv("HOME", c.home)
		var said strings.Builder
		folder := (&UpCmd{History: c.flag}).historyFolder(&said)
		if string(folder) != c.want || !strings.Contains(said.String(), c.said) || (said.Len() > 0) != (c.said != "") {
			t.Errorf("%s: the history is in %q, want %q; said: %q", name, folder, c.want, said.String())
		}
	}
}

// A run that is interrupted while its lab starts proves nothing. It names the processes left.
func TestInterruptedWhileServicesStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var said strings.Builder
	cancel()
	err := notUp(ctx, &said, errors.New("a process is left"))
	labtest.Check(t, err, exitStatus(loadtest.ExitNotValid), "an interrupted start")
	labtest.Contains(t, said.String(), "a process is left", "what it says")
}

// Ctrl-C ends a game that waits for the next line.
func TestAGameEndsWhileItWaitsForInput(t *testing.T) {
	in, typing := io.Pipe()
	defer typing.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := (table{Writer: io.Discard}).playInput(ctx, nil, in)
	labtest.Check(t, err, context.Canceled, "a game without input")
}

// fakeDebian makes a folder of programs. Its apt-get runs the given script, and its id prints the
// given user. Redis and other tools are missing.
func fakeDebian(t *testing.T, user, aptGet string) (bin string) {
	t.Helper()
	bin = t.TempDir()
	for _, name := range []string{"sh", "grep", "rm", "mv", "chmod"} {
		path := labtest.Value(exec.LookPath(name)).Must(t)
		labtest.Must(t, os.Symlink(path, filepath.Join(bin, name)))
	}
	for name, text := range map[string]string{
		"apt-get":   `echo "apt-get $DEBIAN_FRONTEND $*" >>"$SAW"; "$POLICY_RC_D"; echo "policy: $?" >>"$SAW"; ` + aptGet,
		"apt-cache": `[ "$2" != etcd-server ] && echo "Package: $2"`,
		"systemctl": `echo "systemctl $*" >>"$SAW"`,
		"id":        "echo " + user,
	} {
		labtest.Must(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	return bin
}

// The script installs what is missing. Meanwhile it prevents services from starting, and afterwards
// it restores the system's policy, also if apt-get fails. A user who may not install gets the
// command to run. Without a terminal, the script asks for no password.
func TestDepsScript(t *testing.T) {
	const before = "#!/bin/sh\nexit 0\n"
	for _, c := range []struct {
		name, user, aptGet, argument string
		says, saw                    string
		ok                           bool
	}{
		{name: "root", user: "0", aptGet: `[ "$1" != install ] || { : >"${0%/*}/redis-server"; chmod 755 "${0%/*}/redis-server"; }`,
			says: "Still missing: etcd", saw: "systemctl disable --quiet redis-server"},
		{name: "apt-get fails", user: "0", aptGet: "exit 100", says: "Still missing: Redis, etcd", saw: "policy: 101"},
		{name: "apt-get fails, best effort", user: "0", aptGet: "exit 100", argument: "--best-effort",
			says: "Going on without", saw: "policy: 101", ok: true},
		{name: "a user without sudo", user: "1000", says: "Only root may install it: as root, run "},
		{name: "a user without sudo, best effort", user: "1000", argument: "--best-effort", says: "Going on without",
			ok: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bin, folder := fakeDebian(t, c.user, c.aptGet), t.TempDir()
			policy, saw := filepath.Join(folder, "policy-rc.d"), filepath.Join(folder, "saw")
			labtest.Must(t, os.WriteFile(policy, []byte(before), 0o755))
			cmd := exec.CommandContext(t.Context(), "sh", strings.Fields("../../deploy/deps.sh "+c.argument)...)
			cmd.Env = []string{"PATH=" + bin, "POLICY_RC_D=" + policy, "SAW=" + saw}
			said, err := cmd.CombinedOutput()
			if (err == nil) != c.ok || !strings.Contains(string(said), c.says) {
				t.Errorf("%v, it says %q; want %q", err, said, c.says)
			}
			seen, _ := os.ReadFile(saw)
			if !strings.Contains(string(seen), c.saw) || c.user == "0" &&
				!strings.Contains(string(seen), "apt-get noninteractive install -y") {
				t.Errorf("it ran %q, want %q", seen, c.saw)
			}
			if strings.Contains(string(seen), "policy: 0") || c.user != "0" && seen != nil {
				t.Errorf("it ran %q: a service may start, or it is no business of this user", seen)
			}
			files, err := os.ReadDir(folder)
			if text, _ := os.ReadFile(policy); string(text) != before || err != nil || len(files) > 2 {
				t.Errorf("the policy is %q afterwards, beside %v", text, files)
			}
		})
	}
}
