package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
)

// A client that asks too often is told when to come back; others, and the operator, are not
// refused because of them.
func TestClientRate(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	s := serverWith(t, sells(), httpapi.Config{Limits: httpapi.Limits{ClientRate: 3, Proxies: proxies}})
	from := func(peer, chain, authorization string) reply {
		r := newRequest("POST", "/api/v1/seckill", purchase(1, 1), "Authorization: "+authorization)
		r.RemoteAddr = peer
		if chain != "" {
			r.Header.Set("X-Forwarded-For", chain)
		}
		return do(t, s, r)
	}
	for i := range 3 {
		from("192.0.2.7:1", "", "").want(t, fmt.Sprint("request ", i), 200, "")
	}
	refused := from("192.0.2.7:2", "198.51.100.9", "")
	refused.want(t, "the fourth, from another port and with a header of its own", 429, "rate_limited")
	if after := refused.header.Get("Retry-After"); after != "1" {
		t.Errorf("Retry-After is %q, want 1", after)
	}
	from("192.0.2.8:1", "", "").want(t, "another client", 200, "")
	from("192.0.2.7:1", "", "Bearer "+adminToken).want(t, "the operator", 200, "")
	for i := range 5 {
		from("10.0.0.1:1", fmt.Sprint("198.51.100.", i), "").want(t, "clients of a proxy", 200, "")
	}
	for range 3 {
		from("10.0.0.1:1", "203.0.113.1", "")
	}
	from("10.0.0.1:1", "203.0.113.1", "").want(t, "one client of a proxy, too often", 429, "rate_limited")
	if n := metric(t, s, "seckill_client_refusals_total"); n != 2 {
		t.Errorf("%v refusals are counted, want 2", n)
	}
}

// A header and a body that are too large are refused.
func TestLargeRequests(t *testing.T) {
	s := serve(t, sells(), httpapi.Config{})
	for what, c := range map[string]struct {
		request string
		status  string
	}{
		"a header": {"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", "431"},
		"a body": {"POST /api/v1/seckill HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n" +
			strings.Repeat(" ", 20<<10), "413"},
	} {
		c2, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c2.Close()
		go io.WriteString(c2, c.request) // the server may not read all of it
		c2.SetReadDeadline(time.Now().Add(20 * time.Second))
		line, err := bufio.NewReader(c2).ReadString('\n')
		if !strings.Contains(line, " "+c.status+" ") {
			t.Errorf("%s: answered %q, %v; want %s", what, line, err, c.status)
		}
	}
}

// Hostile connections, more than the service takes, come and come again; honest
// buyers each buy, and are each told that they have.
func TestHonestBuyersBesideHostileClients(t *testing.T) {
	attackers, buyers, each := 150, 20, 5
	if labtest.Verify {
		attackers, buyers = 2000, 200
	}
	s := serve(t, sells(), httpapi.Config{Limits: httpapi.Limits{Conns: attackers / 2}})
	lift := labtest.Besiege(t.Context(), strings.TrimPrefix(s.url, "http://"), attackers)
	var buying sync.WaitGroup
	for b := range buyers {
		buying.Go(func() {
			client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
			defer client.CloseIdleConnections()
			for i := range each {
				if err := buyUntilAnswered(client, s.url, 1+b*each+i); err != nil {
					t.Errorf("buyer %d: %v", b, err)
				}
			}
		})
	}
	buying.Wait()
	open := metric(t, s.Server, "seckill_connections")
	slow := metric(t, s.Server, "seckill_connections_slow_total")
	lift()
	if open > float64(attackers/2) || slow < 1 {
		t.Errorf("%v connections are open, %v were cut off; want %d at most, and some", open, slow, attackers/2)
	}
	t.Logf("%d hostile clients, %d honest ones: %v connections were cut off", attackers, buyers, slow)
}

// buyUntilAnswered sends a purchase again, with its key, when the connection was
// closed to make room: often, as a busy machine is slow to read what has come.
func buyUntilAnswered(client *http.Client, url string, user int) (err error) {
	for range 25 {
		request, err2 := http.NewRequest("POST", url+"/api/v1/seckill", strings.NewReader(purchase(user, 1)))
		if err2 != nil {
			return err2
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", fmt.Sprint("buyer-", user))
		answer, err2 := client.Do(request)
		if err = err2; err != nil {
			continue
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("answered %s", answer.Status)
		}
		return nil
	}
	return err
}
