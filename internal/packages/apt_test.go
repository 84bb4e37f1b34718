//go:build linux

package packages

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startApt starts the script with an apt-get made of shell commands.
func startApt(t *testing.T, policy, aptGet string) *exec.Cmd {
	t.Helper()
	bin := t.TempDir()
	for name, text := range map[string]string{"apt-get": aptGet, "systemctl": `echo "$@" >>"$SAW.systemctl"`} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-c", aptScript, "apt", policy, "redis-server", "etcd-server", "libzookeeper-java")
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "POLICY="+policy, "SAW="+filepath.Join(bin, "saw"))
	cmd.Dir = bin
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

const recordAndAnswer = `echo "$DEBIAN_FRONTEND $@" >"$SAW"; "$POLICY"; echo $? >"$SAW.policy"; exit `

func TestAptScriptLetsNoServiceStart(t *testing.T) {
	for _, c := range []struct{ name, before, status string }{
		{"no policy before", "", "0"},
		{"a policy before", "#!/bin/sh\nexit 0\n", "0"},
		{"apt-get fails", "#!/bin/sh\nexit 0\n", "100"},
	} {
		policy := filepath.Join(t.TempDir(), "policy-rc.d")
		if c.before != "" {
			if err := os.WriteFile(policy, []byte(c.before), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cmd := startApt(t, policy, recordAndAnswer+c.status)
		cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); (got == 0) != (c.status == "0") {
			t.Errorf("%s: exit status %d, want apt-get's %s", c.name, got, c.status)
		}
		saw := read(filepath.Join(cmd.Dir, "saw"))
		if !strings.HasPrefix(saw, "noninteractive install -y") || !strings.HasSuffix(saw, "redis-server etcd-server libzookeeper-java\n") {
			t.Errorf("%s: apt-get was given %q", c.name, saw)
		}
		if got := read(filepath.Join(cmd.Dir, "saw.policy")); got != "101\n" {
			t.Errorf("%s: while it installs the policy answers %q, want 101", c.name, got)
		}
		if got := read(filepath.Join(cmd.Dir, "saw.systemctl")); c.status == "0" && got != "disable --quiet redis-server\ndisable --quiet etcd\n" {
			t.Errorf("%s: systemctl was told %q", c.name, got)
		}
		checkPutBack(t, c.name, policy, c.before)
	}
}

func TestAptScriptPutsThePolicyBackWhenInterrupted(t *testing.T) {
	// A shell cannot trap what its parent ignores, as nohup does with SIGHUP. A
	// signal that this program catches is not ignored in its children.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		const before = "#!/bin/sh\nexit 104\n"
		policy := filepath.Join(t.TempDir(), "policy-rc.d")
		if err := os.WriteFile(policy, []byte(before), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := startApt(t, policy, `echo >"$SAW"; exec sleep 0.3`)
		for read(filepath.Join(cmd.Dir, "saw")) == "" {
			time.Sleep(time.Millisecond)
		}
		cmd.Process.Signal(signal)
		cmd.Wait()
		if cmd.ProcessState.ExitCode() == 0 {
			t.Errorf("%v: exit status 0", signal)
		}
		checkPutBack(t, signal.String(), policy, before)
	}
}

// A script that was killed leaves its own policy; the next one must not take
// it for the user's.
func TestAptScriptRemovesItsOwnPolicy(t *testing.T) {
	const before = "#!/bin/sh\nexit 104\n"
	policy := filepath.Join(t.TempDir(), "policy-rc.d")
	if err := os.WriteFile(policy, []byte(before), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := startApt(t, policy, `kill -9 $PPID`)
	cmd.Wait()
	if !strings.Contains(read(policy), "seckill deps") {
		t.Fatalf("the policy is %q, which a script that was killed cannot have put back", read(policy))
	}
	startApt(t, policy, "exit 0").Wait()
	checkPutBack(t, "after a kill", policy, before)
}

func checkPutBack(t *testing.T, when, policy, before string) {
	t.Helper()
	if got := read(policy); got != before {
		t.Errorf("%s: the policy is %q afterwards, was %q", when, got, before)
	}
	if left, _ := filepath.Glob(policy + ".*"); left != nil {
		t.Errorf("%s: %v is left", when, left)
	}
}

func read(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}
