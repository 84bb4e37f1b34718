package loadtest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// asService makes this test binary a service process that sells at once: what is
// measured must not be the process that measures.
const asService = "SECKILL_TEST_AS_SERVICE"

func TestMain(m *testing.M) {
	if os.Getenv(asService) != "" {
		if err := beService(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func beService() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	go func() { _ = http.Serve(l, http.HandlerFunc(sellAtOnce)) }()
	_, _ = os.Stdin.Read(make([]byte, 1)) // ends with its parent
	return nil
}

// startService starts this binary as a service.
func startService(t testing.TB) (target string) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^$")
	c.Env = append(os.Environ(), asService+"=1")
	c.Stderr = os.Stderr
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		defer time.AfterFunc(10*time.Second, func() { _ = c.Process.Kill() }).Stop()
		_ = c.Wait()
	})
	target, err = bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(target)
}

func sellAtOnce(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"order_id":"JBSWY3DPEHPK3PXPJBSWY3DPEH","sku_id":1,"quantity":1,"remaining":7,"strategy":"bare"}`))
}
