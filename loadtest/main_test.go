package loadtest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// asService makes this test binary a service process: what is measured or
// stopped must not be the process that measures.
const asService = "SECKILL_TEST_AS_SERVICE"

var services = map[string]func(dir string) (http.Handler, error){
	"no-op": noopService,
	"fake":  func(string) (http.Handler, error) { return (&fake{}).handler(), nil },
}

func TestMain(m *testing.M) {
	labtest.KeepCompiledSQLite()
	if name := os.Getenv(asService); name != "" {
		if err := beService(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func beService(name string) error {
	dir, err := os.MkdirTemp("", "seckill-service-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	h, err := services[name](dir)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	go func() { _ = http.Serve(l, h) }()
	_, _ = os.Stdin.Read(make([]byte, 1)) // ends with its parent
	return nil
}

// startService starts this binary as the named service.
func startService(t testing.TB, name string) (target string, p *os.Process) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^$")
	c.Env = append(os.Environ(), asService+"="+name)
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
	return strings.TrimSpace(target), c.Process
}

// noopService is the whole service with a strategy that does nothing.
func noopService(dir string) (http.Handler, error) {
	in, err := backend.Open(context.Background(), backend.Config{SQLitePath: filepath.Join(dir, "ledger.db")})
	if err != nil {
		return nil, err
	}
	if err := ledger.Migrate(context.Background(), in.DB); err != nil {
		return nil, err
	}
	s, err := httpapi.New(httpapi.Config{Instance: in, Default: "no-op", Settings: catalog.DefaultSettings(),
		Infos: []catalog.Info{{Name: "no-op", Stock: ledger.InRow,
			New: func(catalog.Deps) (seckill.Strategy, error) { return noop{}, nil }}}})
	if err != nil {
		return nil, err
	}
	return s.Handler(), nil
}

type noop struct{}

func (noop) Deduct(_ context.Context, p seckill.Purchase) (seckill.Receipt, error) {
	return seckill.Receipt{OrderID: "JBSWY3DPEHPK3PXPJBSWY3DPEH", SKU: p.SKU, Quantity: p.Quantity, Remaining: 7, Strategy: "no-op"}, nil
}

func (noop) Restore(context.Context, string) error { return seckill.ErrUnknownOrder }
