package lab

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"

	"seckill/internal/backend"
)

// A port that the system may give to an outgoing connection can connect to
// itself while its server is down.
func TestPortsAreNotThoseOfOutgoingConnections(t *testing.T) {
	var p ports
	seen := map[int]bool{}
	for range 50 {
		two, err := p.free(2)
		if err != nil {
			t.Fatal(err)
		}
		for _, port := range two {
			if port < 1024 || port >= 32768 || seen[port] {
				t.Errorf("port %d: want one below 32768 that was not given before", port)
			}
			seen[port] = true
		}
	}
}

// Another program takes the port between our finding it free and the server's start,
// and even answers as a Redis would.
func TestAPortThatIsLostIsReplaced(t *testing.T) {
	l := empty(t)
	s := l.redisServer(NewSearch(os.Getenv).Find(Redis), "redis", backend.NameRedis)
	var lost []int
	original := s.command
	s.command = func(ports []int) (*exec.Cmd, error) {
		if len(lost) < 2 {
			lost = append(lost, ports[0])
			stranger, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", ports[0]))
			if err != nil {
				t.Error(err)
			} else {
				t.Cleanup(func() { stranger.Close() })
				go answerAsRedis(stranger)
			}
		}
		return original(ports)
	}
	all, err := l.launch(t.Context(), 1, 1, func(int, [][]int) server { return s })
	if err != nil {
		t.Fatal(err)
	}
	p := all[0]
	if len(lost) != 2 || p.ports[0] == lost[0] || p.ports[0] == lost[1] {
		t.Errorf("it runs on %v after losing %v: want a third port", p.ports, lost)
	}
	info, err := askRedis(t.Context(), p.Login(), "Server")
	if err != nil || info["process_id"] != fmt.Sprint(p.PID()) {
		t.Errorf("process %s answers (%v), want %d", info["process_id"], err, p.PID())
	}
}

// empty is a lab without servers.
func empty(t *testing.T) *Lab {
	t.Helper()
	folder, err := os.MkdirTemp("", "lab") // short, unlike t.TempDir, for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	l, err := Start(t.Context(), Options{Host: Host{Temp: folder}, Backends: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Stop(context.Background()) })
	return l
}

func answerAsRedis(l net.Listener) {
	const info = "process_id:1\r\nredis_version:9.9.9\r\n"
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.Read(make([]byte, 1000))
		fmt.Fprintf(c, "+OK\r\n$%d\r\n%s\r\n", len(info), info)
		c.Close()
	}
}
