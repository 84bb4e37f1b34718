package lab_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
)

func TestPauseAndResume(t *testing.T) {
	l := privateLab(t)
	p := process(t, l, "redis")
	options := redisOptions(t, p.Login())
	options.MaxRetries, options.ReadTimeout = -1, 300*time.Millisecond
	client := redis.NewClient(options)
	defer client.Close()
	must(t, "ping", client.Ping(t.Context()).Err())
	must(t, "pause", p.Pause())
	if err := client.Ping(t.Context()).Err(); err == nil || !strings.Contains(err.Error(), "timeout") {
		t.Errorf("a paused Redis: %v, want a time-out", err)
	}
	if !p.Alive() {
		t.Error("a paused process is said to have ended")
	}
	must(t, "resume", p.Resume())
	must(t, "ping after resume", client.Ping(t.Context()).Err())

	must(t, "pause", p.Pause())
	must(t, "terminate a paused process", p.Terminate(t.Context()))
	if p.Alive() || p.Ended() == "" {
		t.Error("it ended, and says that it is alive")
	}
	if err := p.Pause(); err == nil {
		t.Error("a process that has ended could be paused")
	}
	must(t, "terminate what has ended", p.Terminate(t.Context()))
	must(t, "start it again", p.Restart(t.Context()))
}

// A server that comes back has its address and its data, however it ended.
func TestRestartKeepsAddressAndData(t *testing.T) {
	l := privateLab(t)
	in, err := backend.Open(t.Context(), l.Config())
	must(t, "open", err)
	must(t, "write to MySQL", in.DB.Exec("CREATE TABLE kept (id INT PRIMARY KEY)").Error)
	must(t, "write to MySQL", in.DB.Exec("INSERT INTO kept VALUES (42)").Error)
	_, err = in.Etcd.Put(t.Context(), "kept", "42")
	must(t, "write to etcd", err)
	must(t, "close", in.Close())

	for _, name := range []string{"mysql", "zookeeper", "etcd"} {
		p := process(t, l, name)
		before, pid := p.Addr, p.PID()
		must(t, "kill "+name, p.Kill(t.Context()))
		if c, err := net.Dial("tcp", p.Addr); err == nil {
			c.Close()
			t.Errorf("%s was killed and still takes connections", name)
		}
		must(t, "restart "+name, p.Restart(t.Context()))
		if p.Addr != before || p.PID() == pid {
			t.Errorf("%s is process %d at %s, was %d at %s: want another process at the same address", name, p.PID(), p.Addr, pid, before)
		}
	}
	must(t, "restart what runs", process(t, l, "mysql").Restart(t.Context()))

	again, err := backend.Open(t.Context(), l.Config())
	must(t, "open again", err)
	defer again.Close()
	var id int
	must(t, "read from MySQL", again.DB.Raw("SELECT id FROM kept").Row().Scan(&id))
	keys, err := again.Etcd.Get(t.Context(), "kept")
	must(t, "read from etcd", err)
	must(t, "tidy up", again.DB.Exec("DROP TABLE kept").Error)
	if id != 42 || len(keys.Kvs) != 1 {
		t.Errorf("after kill and restart MySQL has %d and etcd %d keys, want 42 and 1", id, len(keys.Kvs))
	}
}
