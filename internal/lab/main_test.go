package lab_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

// The test program can also run as a service process of a lab, or as a program with a lab, which tests kill.
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

// private returns a lab with a private server of every backend and two service processes. Tests that break it repair
// it.
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
	folder, err := os.MkdirTemp("", "lab")
	must(t, "make a folder", err)
	private.host = labtest.Host()
	private.host.Temp = folder
	l, err := lab.Start(t.Context(), lab.Options{Host: private.host})
	must(t, "start the lab of all tests", err)
	private.lab, private.stop = l, func() {
		_ = l.Stop(context.Background())
		_ = os.RemoveAll(folder)
	}
	must(t, "start services", l.StartServices(t.Context(), 2))
	return l
}

// serve imitates `seckill serve --addr HOST:PORT`. It answers with its environment, and ends when it is asked to.
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

// redisOptions returns the options of a client that parses only the URLs of Redis itself.
func redisOptions(t *testing.T, login string) *redis.Options {
	t.Helper()
	o, err := redis.ParseURL(login)
	must(t, "parse u r l", err)
	return o
}
