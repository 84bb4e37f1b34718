package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
)

// fakeDebian is a folder of programs in which apt-get works, Redis and other
// tools are missing, and id says who runs it.
func fakeDebian(t *testing.T, user, aptGet string) (bin string) {
	t.Helper()
	bin = t.TempDir()
	for _, name := range []string{"sh", "grep", "rm", "mv", "chmod"} {
		path, err := exec.LookPath(name)
		labtest.Must(t, err)
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

// The script installs what is missing, lets no service start meanwhile, and puts the
// policy of the system back, also if apt-get fails. A user who may not install is told
// what to run, and is asked for no password without a terminal.
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
		{name: "apt-get fails, best effort", user: "0", aptGet: "exit 100", argument: "--best-effort", says: "Going on without", saw: "policy: 101", ok: true},
		{name: "a user without sudo", user: "1000", says: "Only root may install it: as root, run "},
		{name: "a user without sudo, best effort", user: "1000", argument: "--best-effort", says: "Going on without", ok: true},
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
			if !strings.Contains(string(seen), c.saw) || c.user == "0" && !strings.Contains(string(seen), "apt-get noninteractive install -y") {
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
