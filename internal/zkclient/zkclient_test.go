package zkclient_test

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
	"seckill/internal/zkclient"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// freshDir returns the path of a node that only this test uses. The parents of the node exist.
func freshDir(t *testing.T, c *zkclient.Client) string {
	t.Helper()
	dir := "/test/" + strings.ReplaceAll(t.Name(), "/", "-")
	labtest.Must(t, c.EnsurePath(t.Context(), dir))
	labtest.Must(t, c.Forget(t.Context(), dir, ""))
	t.Cleanup(func() {
		_ = c.Forget(context.Background(), dir, "")
		_ = c.Delete(context.Background(), dir)
	})
	return dir
}

func TestZooKeeperCommandsPassTheTap(t *testing.T) {
	c, r := labtest.Instance(t, backend.ZooKeeper).ZooKeeper, &taptest.Recorder{}
	dir, ctx := freshDir(t, c), tap.With(t.Context(), r)

	node, err := c.Create(ctx, dir+"/n-", []byte("data"), zk.FlagEphemeralSequential)
	if err != nil || node != dir+"/n-0000000000" {
		t.Fatalf("created %q, %v", node, err)
	}
	data, stat, change, err := c.GetW(ctx, node)
	if err != nil || string(data) != "data" || stat.Czxid == 0 {
		t.Fatalf("got %q, %+v, %v", data, stat, err)
	}
	if s, err := c.Session(ctx); err != nil || stat.EphemeralOwner != s.ID || s.ID == 0 || s.Timeout < time.Second {
		t.Errorf("the node's owner is %x, the session %+v, %v", stat.EphemeralOwner, s, err)
	}
	names, stat, err := c.Children(ctx, dir)
	if err != nil || len(names) != 1 || stat.Pzxid == 0 {
		t.Errorf("children %q, %+v, %v", names, stat, err)
	}
	_, _, _, err = c.ChildrenW(ctx, dir)
	labtest.Check(t, err, nil, "watch the children")
	labtest.Must(t, c.Delete(ctx, node))
	ev := labtest.Value(tap.Wait(ctx, "node", change)).Must(t)
	labtest.Same(t, ev.Type, zk.EventNodeDeleted, "the watch brought")
	labtest.Value(c.Exists(ctx, node)).Same(t, nil, "a node that is gone")
	want := []string{
		"zookeeper create " + dir + "/n- ephemeral sequential", "zookeeper getData " + node + " watch",
		"zookeeper getChildren " + dir, "zookeeper getChildren " + dir + " watch", "zookeeper delete " + node,
		"wait node", "zookeeper exists " + node,
	}
	labtest.Same(t, strings.Join(r.Seen(), "\n"), strings.Join(want, "\n"), "the tap saw")

	stopped := errors.New("stopped")
	r.OnBefore = func(*tap.Command) error { return stopped }
	labtest.Value(c.Create(ctx, dir+"/never", nil, zk.FlagPersistent)).Check(t, stopped,
		"a command that the tap stops")
	labtest.Value(c.Exists(t.Context(), dir+"/never")).Same(t, nil, "the node of a command that the tap stopped")
}

func TestZooKeeperUnreachable(t *testing.T) {
	before := goroutines("go-zookeeper")
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and never answers
	labtest.Must(t, err)
	defer silent.Close()
	gone := labtest.Value(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	gone.Close()
	for name, c := range map[string]struct{ addr, says string }{
		"no server":    {gone.Addr().String(), "connection refused"},
		"nothing said": {silent.Addr().String(), "session"},
		"no such host": {"no-such-host.invalid:2181", "no-such-host.invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			in, err := backend.Open(t.Context(), backend.Config{ZooKeeperAddrs: []string{c.addr}})
			if err == nil {
				in.Close()
				t.Fatal("opened")
			}
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("it took %v to say so", took)
			}
			for _, want := range []string{"zookeeper at " + c.addr, c.says} {
				labtest.Contains(t, err.Error(), want, "the error")
			}
		})
	}
	labtest.Soon(t, "no goroutine is left", func() bool { return goroutines("go-zookeeper") <= before })
}

func TestZooKeeperCloseLeavesNothing(t *testing.T) {
	for name, prepare := range map[string]func(*backend.Instance, *labtest.Wire){
		"connected": func(*backend.Instance, *labtest.Wire) {},
		"cut":       func(_ *backend.Instance, w *labtest.Wire) { w.Cut() },
		"frozen":    func(_ *backend.Instance, w *labtest.Wire) { w.Freeze() },
		"killed":    func(in *backend.Instance, _ *labtest.Wire) { in.Dialer.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			other := labtest.Instance(t, backend.ZooKeeper)
			if _, err := other.ZooKeeper.Exists(t.Context(), "/"); err != nil { // all goroutines of the client run
				t.Fatal(err)
			}
			target, before := other.Config.ZooKeeperAddrs[0], goroutines("go-zookeeper")
			w := labtest.NewWire(t, target)
			in := labtest.Value(backend.Open(t.Context(), backend.Config{ZooKeeperAddrs: []string{w.Addr()}})).Must(t)
			prepare(in, w)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			in.ZooKeeper.Create(ctx, "/test/close", nil, zk.FlagEphemeral)
			_ = in.ZooKeeper.Forget(ctx, "/test", "close") // goes on in the background
			labtest.Check(t, in.Close(), nil, "close the client")
			labtest.Soon(t, "no goroutine is left", func() bool {
				return goroutines("go-zookeeper") <= before
			})
			labtest.Value(in.ZooKeeper.Session(t.Context())).Fails(t, "", "the session of a closed client")
		})
	}
}

// A create may be on its way for longer than its caller waits. If a clean-up reached the server
// before the create, the node would stay until the session ends.
func TestZooKeeperCleansUpAfterWhatIsOnItsWay(t *testing.T) {
	other := labtest.Instance(t, backend.ZooKeeper)
	late, found := freshDir(t, other.ZooKeeper)+"/late", make(chan bool, 2)
	w := labtest.NewWire(t, other.Config.ZooKeeperAddrs[0])
	c := labtest.Open(t, backend.Config{ZooKeeperAddrs: []string{w.Addr()}}).ZooKeeper
	w.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _ = c.Create(ctx, late, nil, zk.FlagEphemeral)
	_ = c.CleanUp(ctx, func(context.Context) error { // goes on in the background
		stat, err := other.ZooKeeper.Exists(t.Context(), late)
		found <- stat != nil && ctx.Err() != nil
		return err
	})
	w.Pass()
	labtest.Same(t, <-found, true, "the node was there before it cleaned up")
}

func goroutines(in string) (n int) {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	for one := range strings.SplitSeq(string(all), "\n\n") {
		if strings.Contains(one, in) {
			n++
		}
	}
	return n
}

// AskServer does not read an answer that is far longer than that of a ZooKeeper server.
func TestAskServerReadsALimitedAnswer(t *testing.T) {
	t.Parallel()
	listener := labtest.Value(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	defer listener.Close()
	const maxSent = 64 << 20
	sent := make(chan int, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		total := 0
		for chunk := make([]byte, 64<<10); err == nil && total < maxSent; {
			var n int
			n, err = conn.Write(chunk)
			total += n
		}
		sent <- total
	}()
	_, _, err := zkclient.AskServer(t.Context(), listener.Addr().String())
	if err == nil {
		t.Fatal("the answer is taken for that of a ZooKeeper server")
	}
	if len(err.Error()) > 1000 {
		t.Errorf("the error has %d bytes, want a short one", len(err.Error()))
	}
	if n := <-sent; n >= maxSent {
		t.Errorf("all %d bytes were read", n)
	}
}
