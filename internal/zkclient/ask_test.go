package zkclient_test

import (
	"net"
	"testing"

	"seckill/internal/lab/labtest"
	"seckill/internal/zkclient"
)

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
