//go:build verify

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
)

// labOf starts a lab of its own with these backends and so many services.
func labOf(t *testing.T, services int, backends ...string) *lab.Lab {
	t.Helper()
	l, err := lab.Start(t.Context(), lab.Options{Host: labtest.Host(), Backends: backends})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := l.StartServices(t.Context(), services); err != nil {
		t.Fatal(err)
	}
	return l
}

// booksOf reads the ledger of a lab.
func booksOf(t *testing.T, l *lab.Lab) *ledger.Store {
	t.Helper()
	in, err := backend.Open(t.Context(), l.Config().Only(backend.SQL, backend.RowLocks))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	return ledger.NewStore(in.DB)
}

// Four service processes behind HAProxy are restarted one after the other. Buyers send
// each purchase once: every one is sold at the first try, and has one order.
func TestRollingRestartBehindAProxy(t *testing.T) {
	const services, buyers, sku = 4, 8, 1
	l := labOf(t, services, backend.NameMySQL)
	put(t, l, sku, 1_000_000)
	var addresses []string
	for _, s := range l.Services() {
		addresses = append(addresses, strings.TrimPrefix(s.URL, "http://"))
	}
	proxy, err := l.StartProxy(t.Context(), addresses)
	if err != nil {
		t.Fatal(err)
	}
	for _, strategy := range []string{"conditional", "merged"} {
		var buying sync.WaitGroup
		stop, sales := make(chan struct{}), make(chan struct{}, 100_000)
		before := held(t, l, sku)
		sold := make([]int64, buyers)
		for b := range buyers {
			buying.Go(func() {
				client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
				defer client.CloseIdleConnections()
				for n := 1; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					user := b*1_000_000 + n
					if strategy == "merged" {
						user += 100_000_000
					}
					status, text, err := buyBehind(client, proxy.Addr, strategy, sku, user)
					if err != nil || status != http.StatusOK {
						t.Errorf("%s, buyer %d: %d %s, %v", strategy, user, status, text, err)
						return
					}
					sold[b]++
					select {
					case sales <- struct{}{}:
					default:
					}
				}
			})
		}
		for _, s := range l.Services() {
			p, err := l.Process(s.Name)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Restart(t.Context()); err != nil {
				t.Errorf("restart %s: %v", s.Name, err)
			}
			for len(sales) > 0 {
				<-sales
			}
			late := time.After(2 * time.Minute)
			for n := 0; n < 50 && !t.Failed(); n++ {
				select {
				case <-sales:
				case <-late:
					t.Errorf("%s: %d sales within two minutes of a restart, want 50", strategy, n)
				}
			}
		}
		close(stop)
		buying.Wait()
		all := int64(0)
		for _, n := range sold {
			all += n
		}
		if got := held(t, l, sku) - before; got != all || all == 0 {
			t.Errorf("%s: %d were told sold, and %d have orders", strategy, all, got)
		}
		t.Logf("%s: %d sold over %d restarts, none failed", strategy, all, services)
	}
}

func held(t *testing.T, l *lab.Lab, sku int64) int64 {
	t.Helper()
	b, err := booksOf(t, l).Balance(t.Context(), sku)
	if err != nil || b.Num != b.Left() {
		t.Fatalf("the books say %+v, %v", b, err)
	}
	return b.Held
}

func put(t *testing.T, l *lab.Lab, sku, stock int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, fmt.Sprintf("%s/api/v1/skus/%d", l.Services()[0].URL, sku),
		strings.NewReader(fmt.Sprintf(`{"stock":%d}`, stock)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+l.Token())
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status)
	}
}

func buyBehind(client *http.Client, addr, strategy string, sku, user int) (status int, text string, err error) {
	body := strings.NewReader(fmt.Sprintf(`{"sku_id":%d,"user_id":%d}`, sku, user))
	request, err := http.NewRequest(http.MethodPost, "http://"+addr+"/api/v1/seckill?strategy="+strategy, body)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", fmt.Sprint("rolling-", user))
	answer, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(read), err
}
