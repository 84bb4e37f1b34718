package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

// An upRun is seckill up on servers that were given, in this process.
type upRun struct {
	t      *testing.T
	stop   context.CancelFunc
	ended  chan int
	stdout *bufio.Scanner
	stderr *bufio.Scanner
}

func startUp(t *testing.T) *upRun {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	t.Cleanup(stop)
	stdout, out := io.Pipe()
	stderr, said := io.Pipe()
	u := &upRun{t, stop, make(chan int, 1), bufio.NewScanner(stdout), bufio.NewScanner(stderr)}
	go func() {
		u.ended <- run(ctx, func() {}, []string{"up", "--addr=127.0.0.1:0", "--services=1", "--history=", "--token=t"}, out, said)
		out.Close()
		said.Close()
	}()
	return u
}

// awaitsLine returns the first group of the pattern in the next line that has it.
func (u *upRun) awaitsLine(from *bufio.Scanner, pattern string) string {
	u.t.Helper()
	for from.Scan() {
		if groups := regexp.MustCompile(pattern).FindStringSubmatch(from.Text()); groups != nil {
			return groups[1]
		}
	}
	u.t.Fatalf("no line has %q", pattern)
	return ""
}

// sells buys with locks of all servers, once the health check succeeds.
func (u *upRun) sells(page string, user int) {
	u.t.Helper()
	buy := func(strategy string) int {
		request, err := http.NewRequestWithContext(u.t.Context(), "POST", page+"api/v1/seckill?strategy="+strategy,
			strings.NewReader(fmt.Sprintf(`{"sku_id":1,"user_id":%d}`, user)))
		labtest.Must(u.t, err)
		request.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(request)
		labtest.Must(u.t, err)
		answer.Body.Close()
		return answer.StatusCode
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := DoctorCmd{Ready: page}.Run(u.t.Context(), io.Discard)
		if err == nil {
			break
		}
		if time.Now().After(end) {
			u.t.Fatal(err)
		}
	}
	for _, strategy := range []string{"conditional", "redis-lua", "zk", "etcd"} {
		if status := buy(strategy); status != http.StatusOK {
			u.t.Errorf("a purchase with %s is answered %d", strategy, status)
		}
		user++
	}
}

// When all containers of a composition are restarted, the page may be there before its
// servers: it waits for them, names each once, and sells. Later it outlives a restart of
// the servers alone.
func TestUpWaitsForGivenServers(t *testing.T) {
	servers, err := lab.Start(t.Context(), lab.Options{Host: labtest.HostIn(t)})
	labtest.Must(t, err)
	t.Cleanup(func() { servers.Stop(context.Background()) })
	each := func(do func(*lab.Process) error) {
		t.Helper()
		var all errgroup.Group
		for _, name := range []string{"mysql", "redis", "redlock-1", "redlock-2", "redlock-3", "redlock-4", "redlock-5", "zookeeper", "etcd"} {
			p, err := servers.Process(name)
			labtest.Must(t, err)
			all.Go(func() error { return do(p) })
		}
		labtest.Must(t, all.Wait())
	}
	kill := func(p *lab.Process) error { return p.Kill(t.Context()) }
	restart := func(p *lab.Process) error { return p.Restart(t.Context()) }
	for name, value := range servers.Config().Environment() {
		t.Setenv(name, value)
	}

	each(kill)
	interrupted := startUp(t)
	interrupted.awaitsLine(interrupted.stderr, "^Waiting, for 1m at most: +(.+)")
	interrupted.stop()
	interrupted.awaitsLine(interrupted.stderr, "(stopped before everything was up)")
	if status := <-interrupted.ended; status != statusFailed {
		t.Errorf("interrupted, it ends with %d", status)
	}

	u := startUp(t)
	waits := map[string]int{}
	for range backend.Names() {
		waits[u.awaitsLine(u.stderr, `^Waiting.*:   (\w+) at `)]++
	}
	for _, name := range backend.Names() {
		if waits[name] != 1 {
			t.Errorf("it says %v times that it waits for %s", waits, name)
		}
	}
	go func() {
		for u.stderr.Scan() {
			if strings.HasPrefix(u.stderr.Text(), "Waiting") {
				t.Error("it says again:", u.stderr.Text())
			}
		}
	}()
	each(restart)
	page := u.awaitsLine(u.stdout, `^Page: (\S+)#token=t .*SIGTERM`)
	u.sells(page, 1)
	answer, err := http.Get(page + "api/lab/v1/status")
	labtest.Must(t, err)
	status, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if !strings.Contains(string(status), "redis was given, ") || !strings.Contains(string(status), `"given_server"`) {
		t.Errorf("the page does not say of faults that Redis was given: %s", status)
	}
	each(kill)
	each(restart)
	u.sells(page, 11)
	u.stop()
	if status := <-u.ended; status != 0 {
		t.Errorf("it ends with %d", status)
	}
}
