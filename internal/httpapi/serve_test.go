package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A running is a running server, on a port of its own.
type running struct {
	*httpapi.Server
	t     testing.TB
	url   string
	stop  context.CancelFunc
	ended chan error
}

func serve(t testing.TB, f *fake, c httpapi.Config) *running {
	t.Helper()
	return run(t, serverWith(t, f, c))
}

func run(t testing.TB, s *httpapi.Server) *running {
	t.Helper()
	l := labtest.Value(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r := &running{Server: s, t: t, url: "http://" + l.Addr().String(), stop: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- r.Serve(ctx, l) }()
	return r
}

func (r *running) buy(ctx context.Context, user int) (reply, error) {
	request, err := http.NewRequestWithContext(ctx, "POST", r.url+"/api/v1/seckill",
		strings.NewReader(purchase(user, 1)))
	if err != nil {
		return reply{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return reply{}, err
	}
	return checked(r.t, response), nil
}

// end waits for Serve to return.
func (r *running) end() error {
	r.t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(labtest.Patience):
		r.t.Fatal("the server does not end")
		return nil
	}
}

// refusesConnections waits until the listener is closed.
func (r *running) refusesConnections() {
	r.t.Helper()
	labtest.Soon(r.t, "the listener closes", func() bool {
		c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err == nil {
			c.Close()
		}
		return err != nil
	})
}

// A busy is a strategy with work beside its buyers.
type busy struct {
	*fake
	begun, ended chan struct{}
}

func (b *busy) Work(ctx context.Context) {
	close(b.begun)
	<-ctx.Done()
	close(b.ended)
}

// At shutdown a purchase in flight still gets its answer, while new connections are refused. The
// strategy's work goes on until then, and Serve returns when that is done.
func TestShutdownFinishesPurchasesInFlight(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	b := &busy{fake: sells(), begun: make(chan struct{}), ended: make(chan struct{})}
	sell := b.deduct
	b.deduct = func(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
		close(began)
		<-goOn
		select {
		case <-b.ended:
			t.Error("the work ended while a buyer was there")
		default:
		}
		r, _ := sell(ctx, p)
		return r, ctx.Err()
	}
	info := b.fake.info()
	info.New = func(catalog.Deps) (seckill.Strategy, error) { return b, nil }
	s := serve(t, nil, httpapi.Config{Infos: []catalog.Info{info}, Default: fakeName})
	<-b.begun
	answered := make(chan reply, 1)
	go func() {
		r, err := s.buy(context.Background(), 1)
		labtest.Check(t, err, nil, "the purchase in flight")
		answered <- r
	}()
	<-began
	labtest.Same(t, metric(t, s.Server, "seckill_purchases_in_flight"), 1, "purchases in flight")
	s.stop()
	s.refusesConnections()
	select {
	case err := <-s.ended:
		t.Fatalf("the server ended (%v) before the purchase did", err)
	default:
	}
	close(goOn)
	r := <-answered
	r.want(t, "the purchase in flight", 200, "")
	labtest.Check(t, s.end(), nil, "Serve")
	select {
	case <-b.ended:
	default:
		t.Error("Serve returned before the work was done")
	}
}

// The orders of earlier runs are removed after each reset, not only when a process starts.
func TestOrdersOfEarlierRunsGo(t *testing.T) {
	s := serve(t, nil, httpapi.Config{}).Server
	for run := range 3 { // the sweep at the start may remove the first run
		ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":1}`).want(t, "reset", http.StatusOK, "")
		labtest.Soon(t, fmt.Sprint("no orders are left before run ", run+1), func() bool {
			var left int64
			labtest.Must(t, s.Instance.DB.Raw("SELECT COUNT(*) FROM orders").Scan(&left).Error)
			return left == 0
		})
		ask(t, s, "POST", "/api/v1/seckill", good).want(t, "buying", http.StatusOK, "")
	}
}

// lingers returns a fake whose only purchase lasts until its context ends.
func lingers(err error) (f *fake, began chan struct{}) {
	f, began = sells(), make(chan struct{})
	f.deduct = func(ctx context.Context, _ seckill.Purchase) (seckill.Receipt, error) {
		close(began)
		<-ctx.Done()
		return seckill.Receipt{}, fmt.Errorf("%w: %w", err, ctx.Err())
	}
	return f, began
}

func TestShutdownHasALimit(t *testing.T) {
	f, began := lingers(seckill.ErrUnavailable)
	s := serve(t, f, httpapi.Config{ShutdownTimeout: 20 * time.Millisecond, PurchaseTimeout: time.Hour})
	go func() { _, _ = s.buy(context.Background(), 1) }()
	<-began
	s.stop()
	labtest.Fails(t, s.end(), "1 purchases in flight", "Serve, when one purchase was cut off")
}

// A caller who closes the sending half of the connection and reads on is told so. The answer does not blame a backend.
func TestHalfClosed(t *testing.T) {
	f, begun := lingers(seckill.ErrUnavailable)
	s := httptest.NewServer(serverWith(t, f, httpapi.Config{}).Handler)
	defer s.Close()
	conn := labtest.Value(net.Dial("tcp", s.Listener.Addr().String())).Must(t)
	defer conn.Close()
	body := purchase(1, 1)
	fmt.Fprintf(conn, "POST /api/v1/seckill HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	<-begun
	labtest.Must(t, conn.(*net.TCPConn).CloseWrite())
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") ||
		!strings.Contains(string(answer), "closed on your side") {
		t.Errorf("answered %q, %v; want 400 with the cause", answer, err)
	}
}

// When a buyer hangs up, the strategy's context ends. An error that follows is not counted as a failure.
func TestABuyerHangsUp(t *testing.T) {
	f, began := lingers(seckill.ErrUnavailable)
	s := serve(t, f, httpapi.Config{PurchaseTimeout: time.Hour}) // the purchase ends with its buyer
	ctx, hangUp := context.WithCancel(context.Background())
	go func() {
		<-began
		hangUp()
	}()
	if _, err := s.buy(ctx, 1); err == nil {
		t.Fatal("a buyer who hung up was answered")
	}
	s.stop()
	if err := s.end(); err != nil { // every handler has returned
		t.Fatal(err)
	}
	if n := metric(t, s.Server, `seckill_requests_total{outcome="gone",strategy="fake"}`); n != 1 {
		t.Errorf("%v buyers are counted as gone, want 1", n)
	}
	if n := metric(t, s.Server, `seckill_requests_total{outcome="backend_unavailable",strategy="fake"}`); n > 0 {
		t.Errorf("%v requests are counted as failures of a backend, want 0", n)
	}
}

// HEAD is answered as GET, without the body; elsewhere it stays refused.
func TestHead(t *testing.T) {
	s := serve(t, nil, httpapi.Config{})
	for path, want := range map[string]int{"/healthz": 200, "/api/v1/skus": 200, "/api/v1/seckill": 405} {
		answer, err := http.Head(s.url + path)
		labtest.Must(t, err)
		body, err := io.ReadAll(answer.Body)
		labtest.Must(t, errors.Join(err, answer.Body.Close()))
		if answer.StatusCode != want || len(body) > 0 {
			t.Errorf("HEAD %s: %s with %q, want %d without a body", path, answer.Status, body, want)
		}
	}
}

// metric returns the value of one series, or -1 if there is none.
func metric(t testing.TB, s *httpapi.Server, series string) float64 {
	t.Helper()
	for line := range strings.Lines(string(ask(t, s, "GET", "/metrics", "").body)) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			return labtest.Value(strconv.ParseFloat(strings.TrimSpace(rest), 64)).Must(t)
		}
	}
	return -1
}

func TestMetrics(t *testing.T) {
	f := sells()
	f.deduct = func(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
		for range 3 {
			_, _ = tap.Do(ctx, tap.Redis, func() *tap.Command { return &tap.Command{} },
				func(context.Context) (any, error) { return nil, nil }, nil)
		}
		closed := make(chan int)
		close(closed)
		_, _ = tap.Wait(ctx, "nothing", closed)
		if p.User == 2 {
			return seckill.Receipt{}, seckill.ErrSoldOut
		}
		return seckill.Receipt{OrderID: "o"}, nil
	}
	s := serverWith(t, f, httpapi.Config{})
	ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1))
	ask(t, s, "POST", "/api/v1/seckill", purchase(2, 1))
	ask(t, s, "POST", "/api/v1/seckill", `{}`)
	ask(t, s, "POST", "/api/v1/seckill?strategy=<script>", good)
	for series, want := range map[string]float64{
		`seckill_requests_total{outcome="sold",strategy="fake"}`:             1,
		`seckill_requests_total{outcome="sold_out",strategy="fake"}`:         1,
		`seckill_requests_total{outcome="invalid",strategy="fake"}`:          1,
		`seckill_requests_total{outcome="unknown_strategy",strategy="none"}`: 1,
		`seckill_request_duration_seconds_count{strategy="fake"}`:            2,
		`seckill_backend_commands_total{backend="redis",strategy="fake"}`:    6,
		`seckill_backend_commands_total{backend="wait",strategy="fake"}`:     2,
		`seckill_backend_commands_total{backend="sql",strategy="fake"}`:      0,
		`seckill_purchases_in_flight`:                                        0,
		`go_sql_max_open_connections{db_name="ledger"}`:                      8,
	} {
		labtest.Same(t, metric(t, s, series), want, "%s", series)
	}
	stats := read[struct {
		ProcessorSeconds float64 `json:"processor_seconds"`
		Strategies       map[string]struct {
			Purchases int
			Commands  map[string]int
		}
	}](t, ask(t, s, "GET", "/stats", ""))
	if fake := stats.Strategies["fake"]; fake.Purchases != 2 || fake.Commands[tap.Redis] != 6 ||
		fake.Commands[tap.SQL] != 0 || len(fake.Commands) != 4 || stats.ProcessorSeconds <= 0 {
		t.Errorf("/stats says %+v", stats)
	}
	if n := metric(t, s, "process_cpu_seconds_total"); n < 0 {
		t.Error("the process's own metrics are missing")
	}
}
