package loadtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/judge"
	"seckill/internal/seckill"
)

// A service makes all calls to one target except purchases. The calls prepare the sale and collect evidence for
// the judge.
type service struct {
	base       string
	adminToken string
	http       *http.Client
}

const (
	askTimeout   = 5 * time.Second
	resetTimeout = 30 * time.Second // A reset waits for purchases in flight, so it takes longer than other calls.
)

// readBackends returns the target's backends, including those that are down.
func (s service) readBackends(ctx context.Context) ([]backend.Status, error) {
	var answer struct {
		Backends []backend.Status `json:"backends"`
	}
	err := s.getJSON(ctx, "/readyz", &answer)
	var refused *refusal
	if errors.As(err, &refused) && refused.status == http.StatusServiceUnavailable {
		// The status 503 means that the service runs but a backend is down, and the body says which.
		err = json.Unmarshal(refused.body, &answer)
	}
	return answer.Backends, err
}

// resetSKU starts the SKU's next run. It also returns the names of the strategies whose own state it could not reset.
func (s service) resetSKU(ctx context.Context, sku, stock int64) (judge.Stock, []string, error) {
	var answer struct {
		judge.Stock
		NotReset []string `json:"not_reset"`
	}
	ctx, cancel := context.WithTimeout(ctx, resetTimeout)
	defer cancel()
	body := fmt.Sprintf(`{"stock":%d}`, stock) // The body has no name, so the SKU keeps its name.
	err := s.callJSON(ctx, http.MethodPut, skuPath(sku), body, &answer)
	return answer.Stock, answer.NotReset, err
}

// PutOnSale starts the next run of a SKU at a running service.
func PutOnSale(ctx context.Context, target, adminToken string, sku, stock int64) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	_, _, err := service{target, adminToken, client}.resetSKU(ctx, sku, stock)
	return err
}

func (s service) readStock(ctx context.Context, sku int64) (judge.Snapshot, error) {
	var answer struct {
		judge.Stock
		StockStores map[seckill.StockStore]int64 `json:"stock_stores"`
	}
	err := s.getJSON(ctx, skuPath(sku), &answer)
	return judge.Snapshot{Stock: answer.Stock, StockStores: answer.StockStores}, err
}

func skuPath(sku int64) string { return "/api/v1/skus/" + strconv.FormatInt(sku, 10) }

// A refusal is the error for an answer whose status is not 200.
type refusal struct {
	call    string // the method and the URL of the call
	status  int
	body    []byte
	problem problemBody // empty if the body has no problem
}

func (r *refusal) Error() string {
	if r.problem.Code != "" {
		return fmt.Sprintf("%s was answered %d %s: %s", r.call, r.status, r.problem.Code, r.problem.Detail)
	}
	return fmt.Sprintf("%s was answered %d: %s", r.call, r.status, quoteStart(r.body))
}

// getJSON asks for a path and decodes the JSON answer. It returns a *refusal if the status is not 200.
func (s service) getJSON(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return s.callJSON(ctx, http.MethodGet, path, "", into)
}

// callJSON sends one request and decodes the JSON answer. It returns a *refusal if the status is not 200.
func (s service) callJSON(ctx context.Context, method, path, body string, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", typeJSON)
	// No other path needs the token.
	if s.adminToken != "" && strings.HasPrefix(path, "/api/v1/") {
		req.Header.Set("Authorization", "Bearer "+s.adminToken)
	}
	call := req.Method + " " + req.URL.String()
	resp, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	const maxAnswer = 64 << 20 // in bytes
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}
	if resp.StatusCode != http.StatusOK {
		refused := &refusal{call: call, status: resp.StatusCode, body: data}
		_ = json.Unmarshal(data, &refused.problem) // problem stays empty if the body is not JSON, as from a proxy
		return refused
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s was not answered as expected: %w (%s)", call, err, quoteStart(data))
	}
	return nil
}

// Snapshot returns the snapshot of the ledger with all that the judge needs. If the strategy also counts units outside
// the stock row, Snapshot asks the services for this counter. If buyers send no keys, services make up the request
// ids. Snapshot then gives each order the key that the plan has for the user's request.
func (r *run) Snapshot(ctx context.Context, sku int64) (judge.Snapshot, error) {
	snap, err := r.config.Ledger.Snapshot(ctx, sku)
	for i := range snap.Orders {
		if r.config.Keyless {
			snap.Orders[i].RequestID = r.plan.keyOf(r.plan.requestOf(snap.Orders[i].UserID), sku)
		}
	}
	counter := r.stockStores[r.config.Strategy].Counter()
	if err != nil || counter == "" {
		return snap, err
	}
	var errs []error
	for _, s := range r.services {
		stock, err := s.readStock(ctx, sku)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		snap.StockStores = stock.StockStores
		if _, ok := stock.StockStores[counter]; ok {
			return snap, nil
		}
	}
	if len(errs) == len(r.services) {
		return judge.Snapshot{}, errors.Join(errs...)
	}
	return snap, nil // the services that answered do not have the counter, so snap lacks it
}

// stats are the statistics of one service since its process started.
type stats struct {
	StartedAt        time.Time `json:"started_at"`
	ProcessorSeconds float64   `json:"processor_seconds"`
	InFlight         int       `json:"purchases_in_flight"`
	Strategies       map[string]struct {
		Purchases int64            `json:"purchases"`
		Commands  map[string]int64 `json:"commands"` // backend → number of commands sent to it
	} `json:"strategies"`
}

func (r *run) readAllStats(ctx context.Context) ([]stats, error) {
	var all []stats
	for _, s := range r.services {
		var now stats
		if err := s.getJSON(ctx, "/stats", &now); err != nil {
			return nil, err
		}
		all = append(all, now)
	}
	return all, nil
}

// startMeter reads the statistics of all services before the load. It returns a function that reads them again after
// the load, and writes the commands and the processor time of the load into the result.
func (r *run) startMeter(ctx context.Context) func(context.Context) {
	before, err := r.readAllStats(ctx)
	return func(ctx context.Context) {
		var after []stats
		if err == nil {
			after, err = r.readAllStats(ctx)
		}
		isSameProcess := func(a, b stats) bool { return a.StartedAt.Equal(b.StartedAt) }
		if err == nil && !slices.EqualFunc(before, after, isSameProcess) {
			err = errors.New("a target was started again")
		}
		if err != nil {
			r.result.CommandsMissing = err.Error()
			return
		}
		r.result.addCost(before, after)
	}
}

// addCost writes the processor time of all targets, and the commands of the strategy's purchases, into the result.
func (r *Result) addCost(before, after []stats) {
	processor, purchases, commands := 0.0, int64(0), map[string]int64{}
	for i, now := range after {
		was, of := before[i], now.Strategies[r.Settings.Strategy]
		processor += now.ProcessorSeconds - was.ProcessorSeconds
		purchases += of.Purchases - was.Strategies[r.Settings.Strategy].Purchases
		for backend, n := range of.Commands {
			commands[backend] += n - was.Strategies[r.Settings.Strategy].Commands[backend]
		}
	}
	if processor > 0 {
		r.Processor.Services = new(processor)
	}
	if purchases == 0 {
		r.CommandsMissing = "the targets count no purchases of " + r.Settings.Strategy
		return
	}
	for backend, n := range commands {
		if n > 0 {
			r.Commands = append(r.Commands, Commands{backend, n, float64(n) / float64(purchases)})
		}
	}
	slices.SortFunc(r.Commands, func(a, b Commands) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Backend, b.Backend))
	})
}
