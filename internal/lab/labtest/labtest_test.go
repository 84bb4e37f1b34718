package labtest

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// Signals end a program that a test starts, even if the test program was started to ignore them.
func TestProgramsHearSignals(t *testing.T) {
	if os.Getenv("SECKILL_TEST_IGNORES") == "" {
		again := exec.CommandContext(t.Context(), "sh", "-c",
			`trap "" HUP INT QUIT; exec "$0" -test.run="^$1\$"`, os.Args[0], t.Name())
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
