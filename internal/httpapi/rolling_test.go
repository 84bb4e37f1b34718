package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
)

// A replica is one service of several, on an address of its own, that is restarted.
type replica struct {
	t    *testing.T
	addr string
	stop context.CancelFunc
	end  chan error
}

// run starts it, and returns when it listens.
func (r *replica) run() {
	r.t.Helper()
	in, err := backend.Open(r.t.Context(), labtest.Config(r.t, backend.SQL, backend.RowLocks))
	if err != nil {
		r.t.Fatal(err)
	}
	migrate(r.t, in)
	addr := r.addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if r.addr == "" { // buyers read it meanwhile
		r.addr = l.Addr().String()
	}
	r.stop, r.end = cancel, make(chan error, 1)
	s := serverWith(r.t, nil, httpapi.Config{Instance: in})
	go func(end chan<- error) {
		err := s.Serve(ctx, l)
		end <- errors.Join(err, in.Close())
	}(r.end)
}

// Four services are restarted one after the other while buyers buy. Buyers send what was
// not answered again, with its key, to the next service, as a load balancer does.
// Every purchase is answered in the end, and has one order.
func TestRollingRestart(t *testing.T) {
	for _, strategy := range []string{"conditional", "merged", "reserve"} {
		t.Run(strategy, func(t *testing.T) { restartRolling(t, strategy) })
	}
}

func restartRolling(t *testing.T, strategy string) {
	const services, buyers = 4, 8
	replicas := make([]*replica, services)
	for i := range replicas {
		replicas[i] = &replica{t: t}
		replicas[i].run()
	}
	const sku = 77
	request, err := http.NewRequest("PUT", fmt.Sprintf("http://%s/api/v1/skus/%d", replicas[0].addr, sku), strings.NewReader(`{"stock":1000000}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+adminToken)
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	answer.Body.Close()

	var sold, again atomic.Int64
	var buying sync.WaitGroup
	stop, sales := make(chan struct{}), make(chan struct{}, 1000)
	for b := range buyers {
		buying.Go(func() {
			client := &http.Client{Transport: &http.Transport{}, Timeout: 30 * time.Second}
			defer client.CloseIdleConnections()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				user := 1 + b*1_000_000 + n
				body := fmt.Sprintf(`{"sku_id":%d,"user_id":%d}`, sku, user)
				for try := 0; ; try++ {
					status, text, err := buyAt(client, replicas[(user+try)%services].addr, strategy, fmt.Sprint("k", user), body)
					if err == nil && status == http.StatusOK {
						sold.Add(1)
						select {
						case sales <- struct{}{}:
						default: // more than are waited for
						}
						break
					}
					again.Add(1)
					if status != 0 && status != http.StatusTooManyRequests && !strings.Contains(text, "in_progress") || try == 3*services {
						t.Errorf("buyer %d: %d %s, %v", user, status, text, err)
						return
					}
				}
			}
		})
	}
	for _, r := range replicas {
		r.stop()
		if err := <-r.end; err != nil {
			t.Errorf("a service ends with %v", err)
		}
		r.run()
		for len(sales) > 0 {
			<-sales
		}
		late := time.After(time.Minute)
		for n := 0; n < 50; n++ {
			select {
			case <-sales:
			case <-late:
				t.Errorf("%d sales within a minute of a restart, want 50", n)
				n = 50
			}
		}
	}
	close(stop)
	buying.Wait()
	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	books, err := ledger.NewStore(in.DB).Snapshot(t.Context(), sku)
	if held := int64(len(books.Orders)); err != nil || held != sold.Load() || books.Stock.Num != books.Stock.Initial-held {
		t.Errorf("%d were told sold, and the books say %+v with %d orders, %v", sold.Load(), books.Stock, held, err)
	}
	t.Logf("%d sold, %d sent again", sold.Load(), again.Load())
	for _, r := range replicas {
		r.stop()
		if err := <-r.end; err != nil {
			t.Error(err)
		}
	}
}

func buyAt(client *http.Client, addr, strategy, key, body string) (status int, text string, err error) {
	request, err := http.NewRequest("POST", "http://"+addr+"/api/v1/seckill?strategy="+strategy, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	answer, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, "", err
	}
	return answer.StatusCode, string(read), nil
}
