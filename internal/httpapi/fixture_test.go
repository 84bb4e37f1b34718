package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/web"
	"seckill/strategies"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// A fake is a strategy whose results the test sets.
type fake struct {
	deduct  func(context.Context, seckill.Purchase) (seckill.Receipt, error)
	restore func(context.Context, string) error
	reset   func(ctx context.Context, sku, stock int64) error
	ledger  *ledger.Store
}

func (f *fake) Deduct(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
	return f.deduct(ctx, p)
}

func (f *fake) Restore(ctx context.Context, id string) error { return f.restore(ctx, id) }

func (f *fake) Reset(ctx context.Context, sku, stock int64) error {
	if f.reset == nil {
		return nil
	}
	return f.reset(ctx, sku, stock)
}

const (
	fakeName = "fake"
	good     = `{"sku_id":1,"user_id":42,"quantity":1}`
	key      = "Idempotency-Key: one-purchase"
)

func (f *fake) info() catalog.Info {
	return catalog.Info{Name: fakeName, Stock: seckill.InRow,
		New: func(d catalog.Deps) (seckill.Strategy, error) {
			f.ledger = d.Ledger
			return f, nil
		}}
}

// sells returns a fake that always sells and keeps nothing.
func sells() *fake {
	return &fake{
		deduct: func(_ context.Context, p seckill.Purchase) (seckill.Receipt, error) {
			return seckill.Receipt{OrderID: "order-1", SKU: p.SKU, Quantity: p.Quantity, Remaining: 7,
				Strategy: fakeName}, nil
		},
		restore: func(context.Context, string) error { return seckill.ErrUnknownOrder },
	}
}

// refuses returns a fake that refuses every purchase with an error.
func refuses(err error) *fake {
	f := sells()
	f.deduct = func(context.Context, seckill.Purchase) (seckill.Receipt, error) { return seckill.Receipt{}, err }
	return f
}

var settings = catalog.DefaultSettings()

// embedded returns an instance on a SQLite file of its own. That is enough for tests about HTTP.
func embedded(t testing.TB) *backend.Instance {
	t.Helper()
	in := labtest.Open(t, backend.Config{SQLitePath: filepath.Join(t.TempDir(), "ledger.db")})
	migrate(t, in)
	return in
}

// onMySQL returns a new instance with the tables of the service, on the shared MySQL and the backends of needs.
func onMySQL(t testing.TB, needs ...backend.Capability) *backend.Instance {
	t.Helper()
	in := labtest.Instance(t, append(needs, backend.SQL, backend.RowLocks)...)
	migrate(t, in)
	return in
}

func migrate(t testing.TB, in *backend.Instance) {
	t.Helper()
	labtest.Must(t, ledger.Migrate(context.Background(), in.DB))
}

// serverWith serves the fake f or, if f is nil, the real strategies. If it makes a database for a
// fake, SKU 1 is on sale there.
func serverWith(t testing.TB, f *fake, c httpapi.Config) *httpapi.Server {
	t.Helper()
	c.Settings = settings
	if c.Token == "" {
		c.Token = adminToken
	}
	own := c.Instance == nil
	if own {
		c.Instance = embedded(t)
	}
	if c.Infos == nil && f == nil {
		c.Infos = strategies.All()
	}
	if c.Default == "" {
		c.Default = "conditional"
	}
	if f != nil {
		c.Infos, c.Default = append([]catalog.Info{f.info()}, c.Infos...), fakeName
	}
	if own && c.Default == fakeName {
		labtest.Value(ledger.NewStore(c.Instance.DB).Schedule(context.Background(), 1, "", 10, nil)).Must(t)
	}
	return labtest.Value(httpapi.New(c)).Must(t)
}

// A reply is an answer after the checks that every answer must pass.
type reply struct {
	status int
	header http.Header
	body   []byte
	web.Problem
}

type sale = seckill.Receipt

type orders struct{ Orders []judge.Order }

func purchase(user, quantity int) string {
	return fmt.Sprintf(`{"sku_id":1,"user_id":%d,"quantity":%d}`, user, quantity)
}

// read returns what an answer says. The answer must have the status 200.
func read[T any](t testing.TB, r reply) (v T) {
	t.Helper()
	if r.status != http.StatusOK {
		t.Fatalf("answered %d %s, want 200", r.status, r.body)
	}
	if err := json.Unmarshal(r.body, &v); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	return v
}

func (r reply) want(t testing.TB, what string, status int, code string) {
	t.Helper()
	if r.status != status || r.Code != code {
		t.Errorf("%s: answered %d %s, want %d with code %q", what, r.status, r.body, status, code)
	}
}

const (
	here      = "127.0.0.1:40000"
	elsewhere = "192.0.2.7:40000"

	adminToken = "the-operators"
)

// newRequest returns a request from this machine and from the operator. The headers ("Name: value") can say otherwise.
func newRequest(method, target, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.RemoteAddr, r.Host = here, "127.0.0.1:8081"
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header[name] = append(r.Header[name], value)
	}
	if body != "" && r.Header["Content-Type"] == nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if r.Header["Authorization"] == nil {
		r.Header.Set("Authorization", "Bearer "+adminToken)
	}
	return r
}

func ask(t testing.TB, s *httpapi.Server, method, target, body string, headers ...string) reply {
	t.Helper()
	return do(t, s, newRequest(method, target, body, headers...))
}

func do(t testing.TB, s *httpapi.Server, r *http.Request) reply {
	t.Helper()
	return handled(t, s.Handler, r)
}

func handled(t testing.TB, h http.Handler, r *http.Request) reply {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return checked(t, w.Result())
}

func checked(t testing.TB, resp *http.Response) reply {
	t.Helper()
	defer resp.Body.Close()
	body := labtest.Value(io.ReadAll(resp.Body)).Must(t)
	got := reply{status: resp.StatusCode, header: resp.Header, body: body}
	if resp.Header.Get("X-Request-Id") == "" {
		t.Errorf("answer without an X-Request-Id: %d %s", resp.StatusCode, body)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode == http.StatusOK || kind == "application/json" {
		return got
	}
	p := &got.Problem
	if err := json.Unmarshal(body, p); err != nil || kind != "application/problem+json" {
		t.Errorf("answered %d as %q, want problem+json (%v): %s", resp.StatusCode, kind, err, body)
	}
	if p.Status != resp.StatusCode || p.Type != "urn:seckill:problem:"+p.Code || p.Code == "" || p.Title == "" ||
		p.Detail == "" || p.RequestID == "" || len(body) > 2000 { // the detail may repeat what was sent
		t.Errorf("a problem that lacks something, or is long: %d %s", resp.StatusCode, body)
	}
	return got
}
