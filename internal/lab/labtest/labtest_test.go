package labtest

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"seckill/internal/backend"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestWhatIsMissingFails(t *testing.T) {
	for want, s := range map[string]backend.Status{
		"":                    {Name: backend.NameRedis, Tier: backend.Private, OK: true},
		"run: deploy/deps.sh": {Name: backend.NameRedis, Error: "not found"},
		"needs a real redis":  {Name: backend.NameRedis, Tier: backend.Embedded, OK: true},
	} {
		got := lacking([]string{backend.NameRedis}, []backend.Status{{Name: backend.NameEtcd}, s})
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%+v: said %q, want %q", s, got, want)
		}
	}
}

// A program that a test starts ends by the signals that end programs, also where
// the tests themselves were started to ignore them.
func TestProgramsHearSignals(t *testing.T) {
	if os.Getenv("SECKILL_TEST_IGNORES") == "" {
		again := exec.CommandContext(t.Context(), "sh", "-c", `trap "" HUP INT QUIT; exec "$0" -test.run="^$1\$"`, os.Args[0], t.Name())
		again.Env = append(os.Environ(), "SECKILL_TEST_IGNORES=yes")
		if said, err := again.CombinedOutput(); err != nil {
			t.Fatalf("with the signals ignored: %v\n%s", err, said)
		}
		return
	}
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		program := exec.CommandContext(t.Context(), "sleep", "60")
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		program.Process.Signal(s)
		program.Wait()
		if how := program.ProcessState.Sys().(syscall.WaitStatus); !how.Signaled() || how.Signal() != s {
			t.Errorf("sent %v, the program ended with %v", s, program.ProcessState)
		}
	}
}

func TestOwnDatabase(t *testing.T) {
	own, drop, err := ownDatabase("root:secret@tcp(127.0.0.1:1)/theirs")
	if err != nil {
		t.Fatal(err)
	}
	drop() // no server listens there; that is not this test program's end
	if strings.Contains(own, "theirs") || !strings.Contains(own, "root:secret@tcp(127.0.0.1:1)/seckill_test_") {
		t.Errorf("got %s, want a database of our own on the same server", own)
	}
}
