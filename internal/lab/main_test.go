package lab_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

// The test program can also run as a service process of a lab, or as a program with a lab that a test kills.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		serve(os.Args[2:])
	}
	if os.Getenv(victimEnv) != "" {
		beVictim()
	}
	status := labtest.Main(m)
	private.stop()
	os.Exit(status)
}

// private holds a lab with a private server of every backend and two service processes. Tests share this lab, so a test
// that breaks the lab must repair it.
var private struct {
	lab  *lab.Lab
	host lab.Host
	stop func()
}

func init() { private.stop = func() {} }

func privateLab(t *testing.T) *lab.Lab {
	t.Helper()
	if private.lab != nil {
		return private.lab
	}
	folder := labtest.Value(os.MkdirTemp("", "lab")).Must(t)
	private.host = labtest.Host()
	private.host.Temp = folder
	l := labtest.Value(lab.Start(t.Context(), lab.Options{Host: private.host})).Must(t)
	private.lab, private.stop = l, func() {
		_ = l.Stop(context.Background())
		_ = os.RemoveAll(folder)
	}
	labtest.Must(t, l.StartServices(t.Context(), 2))
	return l
}

// serve imitates `seckill serve --addr HOST:PORT`. It answers requests with its environment, and ends at a signal.
func serve(args []string) {
	if slices.Contains(args, "--broken") || slices.Contains(args, "13ms") {
		fmt.Fprintln(os.Stderr, "serve:", strings.Join(args[2:], " "), "it is")
		os.Exit(3)
	}
	asked, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	http.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") })
	http.HandleFunc("/environment", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.Join(os.Environ(), "\n"))
	})
	http.HandleFunc("/arguments", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.Join(args[2:], " "))
	})
	go http.ListenAndServe(args[1], nil)
	<-asked.Done()
	fmt.Fprintln(os.Stderr, "finished the purchases in flight")
	os.Exit(0)
}

const victimEnv = "SECKILL_TEST_VICTIM"

// A victim is the report of a program with a lab that is killed later.
type victim struct {
	Folder string
	PIDs   []int
	Addrs  []string
}

func beVictim() {
	ctx := context.Background()
	host := labtest.Host()
	host.Temp = os.Getenv(victimEnv)
	o := lab.Options{Host: host, Backends: strings.Fields(os.Getenv("SECKILL_TEST_BACKENDS"))}
	l, err := lab.Start(ctx, o)
	if err == nil {
		err = l.StartServices(ctx, 2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	v := observe(l)
	v.PIDs = append([]int{l.KeeperPID()}, v.PIDs...)
	json.NewEncoder(os.Stdout).Encode(v)
	select {}
}

// observe records the processes and the folder that must be gone when the lab has ended.
func observe(l *lab.Lab) victim {
	v := victim{Folder: l.Folder()}
	for _, p := range l.Processes() {
		v.PIDs = append(v.PIDs, p.PID())
		v.Addrs = append(v.Addrs, p.Addr)
	}
	return v
}

// redisOptions parses an address as go-redis does, without this project's own forms.
func redisOptions(t *testing.T, login string) *redis.Options {
	t.Helper()
	return labtest.Value(redis.ParseURL(login)).Must(t)
}

// startVictim runs this test program as a program with a lab of these backends and two service processes.
func startVictim(t *testing.T, processes int, backends ...string) (*exec.Cmd, victim) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"="+labtest.HostIn(t).Temp,
		"SECKILL_TEST_BACKENDS="+strings.Join(backends, " "))
	cmd.Stderr = os.Stderr
	out := labtest.Value(cmd.StdoutPipe()).Must(t)
	labtest.Must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	var v victim
	labtest.Must(t, json.NewDecoder(out).Decode(&v))
	if len(v.PIDs) != processes {
		t.Fatalf("the victim reported %d processes, want %d", len(v.PIDs), processes)
	}
	return cmd, v
}

// gone waits until no process and no file of a lab is left. After a time limit, it returns an error that lists those
// left.
func (v victim) gone() error {
	return lab.Await(context.Background(), labtest.Patience, func(context.Context) error {
		var left []string
		for _, pid := range v.PIDs {
			if processLives(pid) {
				left = append(left, fmt.Sprint("process ", pid))
			}
		}
		for _, addr := range v.Addrs {
			if c, err := net.Dial("tcp", addr); err == nil {
				c.Close()
				left = append(left, "port "+addr)
			}
		}
		if _, err := os.Stat(v.Folder); !errors.Is(err, fs.ErrNotExist) {
			left = append(left, "folder "+v.Folder)
		}
		if left != nil {
			return fmt.Errorf("left behind: %s", strings.Join(left, ", "))
		}
		return nil
	})
}

// processLives reports whether a process runs. A zombie does not run.
func processLives(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := exec.Command("ps", "-o", "state=", "-p", fmt.Sprint(pid)).Output()
	return err == nil && !strings.HasPrefix(string(state), "Z")
}

func TestKill9OfTheParentLeavesNothing(t *testing.T) {
	cmd, v := startVictim(t, 7, backend.NameMySQL, backend.NameRedis, backend.NameZooKeeper, backend.NameEtcd)
	cmd.Process.Kill()
	cmd.Wait()
	labtest.Must(t, v.gone())
}

func TestCancelledStartLeavesNothing(t *testing.T) {
	for _, after := range []time.Duration{0, 50 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond} {
		host := labtest.HostIn(t)
		ctx, cancel := context.WithTimeout(t.Context(), after)
		l, err := lab.Start(ctx, lab.Options{Host: host})
		cancel()
		if err == nil {
			l.Stop(context.Background())
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled after %v: %v, want %v", after, err, context.DeadlineExceeded)
		}
		if out, _ := exec.Command("pgrep", "-f", host.Temp).Output(); len(out) > 0 {
			t.Errorf("cancelled after %v: processes are left: %s", after, out)
		}
		if left, _ := os.ReadDir(host.Temp); len(left) > 0 {
			t.Errorf("cancelled after %v: %v is left", after, left)
		}
	}
}
