package loadtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"seckill/internal/ledger"
)

// An Adapter describes somebody else's service: how it is asked, what its
// answers mean, and where its ledger is. Texts may hold {{.SKU}}, {{.User}},
// {{.Quantity}} and {{.RequestID}}.
type Adapter struct {
	Request Request      `yaml:"request"`
	Answers []AnswerRule `yaml:"answers"` // the first that fits counts; what fits none is unknown
	// OrderID and Remaining are where a sale says them in its JSON, as a path
	// of names and indexes such as data.order.id; empty: it does not.
	OrderID   string `yaml:"order_id"`
	Remaining string `yaml:"remaining"`
	// Cancel, if given, gives an order back; {{.OrderID}} too is known in it.
	// Any 2xx means that it is.
	Cancel *Request `yaml:"cancel"`
	// Reset, if given, starts the sale of a SKU anew; {{.SKU}} and {{.Stock}}
	// are known in it. Any 2xx means that it did.
	Reset *Request `yaml:"reset"`
	// Audit is a query that answers one row of three numbers for {{.SKU}}:
	// initial, remaining and sold units. It is sent to the ledger's database.
	Audit string `yaml:"audit"`
}

// AuditQuery is the audit's query for one SKU.
func (a *Adapter) AuditQuery(sku int64) (string, error) {
	query, err := parseForm(a.Audit, blankSKU)
	if err != nil {
		return "", err
	}
	return string(query.fill(nil, purchase{sku: sku}, nil, "")), nil
}

// A Request is a template of one.
type Request struct {
	Method  string            `yaml:"method"` // empty: POST
	Path    string            `yaml:"path"`   // with query
	Headers map[string]string `yaml:"headers"`
	Body    string            `yaml:"body"`
}

// An AnswerRule says what an answer means that has this status and, at these
// paths of its JSON, these values.
type AnswerRule struct {
	Status int            `yaml:"status"` // 0: any
	JSON   map[string]any `yaml:"json"`
	Means  ledger.Outcome `yaml:"means"`
}

var (
	ofPurchase = []blank{blankSKU, blankUser, blankQuantity, blankRequestID}
	ofCancel   = append(slices.Clone(ofPurchase), blankOrderID)
	ofReset    = []blank{blankSKU, blankStock}
)

// protocol compiles the adapter; cancels: orders will be cancelled.
func (a *Adapter) protocol(cancels bool) (*protocol, error) {
	buy, err := a.Request.compile("service.request", ofPurchase...)
	if err != nil {
		return nil, err
	}
	p := &protocol{buy: buy, means: a.means, cancelled: a.cancelled}
	if a.Cancel != nil {
		if p.cancel, err = a.Cancel.compile("service.cancel", ofCancel...); err != nil {
			return nil, err
		}
		if a.OrderID == "" {
			return nil, wrong("service.order_id", "an order is cancelled by its id: say where a sale tells it")
		}
	} else if cancels {
		return nil, wrong("service.cancel", "cancellations are asked for: say how an order is cancelled")
	}
	if a.Reset != nil {
		if _, err := a.Reset.compile("service.reset", ofReset...); err != nil {
			return nil, err
		}
	}
	sells := false
	for i, rule := range a.Answers {
		field := fmt.Sprintf("service.answers[%d]", i)
		if !slices.Contains(outcomes, rule.Means) {
			return nil, wrong(field+".means", "an answer that means %q: there are %s", rule.Means, strings.Join(strs(outcomes), ", "))
		}
		if rule.Status != 0 && (rule.Status < 200 || rule.Status > 599) {
			return nil, wrong(field+".status", "a status of %d: give 200 to 599", rule.Status)
		}
		if rule.Status == 0 && len(rule.JSON) == 0 {
			return nil, wrong(field, "an answer without status and JSON: every answer would fit")
		}
		for path, value := range rule.JSON {
			if _, ok := scalar(value); !ok {
				return nil, wrong(field+".json", "%s is compared with %v: give a text, a number, true, false or null", path, value)
			}
		}
		sells = sells || rule.Means == ledger.OutcomeSold
	}
	if !sells {
		return nil, wrong("service.answers", "no answer means %q: say how a sale is told", ledger.OutcomeSold)
	}
	if a.Audit == "" {
		return nil, wrong("service.audit", "no query for the audit: without a ledger nothing can be judged")
	}
	if _, err := parseForm(a.Audit, blankSKU); err != nil {
		return nil, wrong("service.audit", "%v", err)
	}
	return p, nil
}

func (r Request) compile(field string, allowed ...blank) (m message, err error) {
	m.method = strings.ToUpper(r.Method)
	switch m.method {
	case "":
		m.method = http.MethodPost
	case "GET", "POST", "PUT", "PATCH", "DELETE":
	default:
		return m, wrong(field+".method", "a method %q: give GET, POST, PUT, PATCH or DELETE", r.Method)
	}
	if !strings.HasPrefix(r.Path, "/") {
		return m, wrong(field+".path", "a path %q: it must begin with /", r.Path)
	}
	if strings.ContainsAny(inBraces.ReplaceAllString(r.Path, ""), " \t\r\n#") {
		return m, wrong(field+".path", "a path %q: escape what may not stand in an address", r.Path)
	}
	if m.path, err = parseForm(r.Path, allowed...); err != nil {
		return m, wrong(field+".path", "%v", err)
	}
	if m.body, err = parseForm(r.Body, allowed...); err != nil {
		return m, wrong(field+".body", "%v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		line, err := headerLine(name, r.Headers[name], allowed...)
		if err != nil {
			return m, wrong(field+".headers", "%v", err)
		}
		m.header = append(m.header, line...)
	}
	return m, nil
}

// means holds an answer against the rules, one after the other.
func (a *Adapter) means(_ order, got answer) reply {
	var body any
	d := json.NewDecoder(bytes.NewReader(got.body))
	d.UseNumber()
	isJSON := d.Decode(&body) == nil && !d.More()
	for _, rule := range a.Answers {
		if rule.Status != 0 && rule.Status != got.status || len(rule.JSON) > 0 && !isJSON || !rule.fits(body) {
			continue
		}
		code := string(rule.Means)
		if rule.Means == ledger.OutcomeSold {
			return a.sale(body, got)
		}
		return reply{outcome: rule.Means, code: code, message: []byte(fmt.Sprintf("status %d: %s", got.status, excerpt(got.body)))}
	}
	if got.status >= 500 {
		return unknown(fmt.Sprintf("http_%d", got.status), excerpt(got.body))
	}
	return nonsense("no rule fits status %d, %s: %s", got.status, got.contentType, excerpt(got.body))
}

func (a *Adapter) sale(body any, got answer) reply {
	r := reply{outcome: ledger.OutcomeSold}
	if a.OrderID != "" {
		id, ok := scalar(at(body, a.OrderID))
		if !ok || id == "" || id == "null" {
			return nonsense("a sale without %s: %s", a.OrderID, excerpt(got.body))
		}
		r.orderID = []byte(id)
	}
	if a.Remaining != "" {
		text, _ := scalar(at(body, a.Remaining))
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nonsense("a sale without a whole number as %s: %s", a.Remaining, excerpt(got.body))
		}
		r.remaining = n
	}
	return r
}

func (a *Adapter) cancelled(got answer) reply {
	switch {
	case got.status >= 200 && got.status < 300:
		return reply{outcome: ledger.OutcomeCancelled}
	case got.status >= 500:
		return unknown(fmt.Sprintf("http_%d", got.status), excerpt(got.body))
	}
	return reply{outcome: ledger.OutcomeError, code: fmt.Sprintf("http_%d", got.status), message: []byte(excerpt(got.body))}
}

func (r *AnswerRule) fits(body any) bool {
	for path, want := range r.JSON {
		w, _ := scalar(want)
		got, ok := scalar(at(body, path))
		if !ok || got != w || isText(want) != isText(at(body, path)) {
			return false
		}
	}
	return true
}

// at is the value at a path such as data.0.id; missing when there is none.
func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			inner, ok := in[name]
			if !ok {
				return missing{}
			}
			v = inner
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return missing{}
			}
			v = in[i]
		default:
			return missing{}
		}
	}
	return v
}

type missing struct{}

func isText(v any) bool { _, ok := v.(string); return ok }

// scalar is a text, number, truth value or null as a text, from JSON and from
// YAML alike.
func scalar(v any) (text string, ok bool) {
	switch v := v.(type) {
	case nil:
		return "null", true
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		if f, err := v.Float64(); err == nil {
			if i, err := v.Int64(); err == nil {
				return strconv.FormatInt(i, 10), true
			}
			return strconv.FormatFloat(f, 'g', -1, 64), true
		}
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}
