package adapter

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"seckill/internal/ledger"
)

// A Service describes a service that is not ours: how it is asked, what its
// answers mean, and where its ledger is. Texts may hold {{.SKU}}, {{.User}},
// {{.Quantity}} and {{.RequestID}}.
type Service struct {
	Request Request      `yaml:"request"`
	Answers []AnswerRule `yaml:"answers"` // the first that fits counts; what fits none is unknown
	// OrderID and Remaining are where a sale says them in its JSON, as a path
	// of names and indexes such as data.order.id; empty: it does not.
	OrderID   string `yaml:"order_id"`
	Remaining string `yaml:"remaining"`
	// Cancel, if given, gives an order back; {{.OrderID}} too is known in it.
	// Any 2xx means it is cancelled.
	Cancel *Request `yaml:"cancel"`
	// Reset, if given, resets the sale of a SKU; {{.SKU}} and {{.Stock}}
	// are known in it. Any 2xx means it is reset.
	Reset *Request `yaml:"reset"`
	// Audit is a query that answers one row of three numbers for {{.SKU}}:
	// initial, remaining and sold units. It is sent to the ledger's database.
	Audit string `yaml:"audit"`
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
	ofPurchase = []Placeholder{SKU, User, Quantity, RequestID}
	ofCancel   = append(slices.Clone(ofPurchase), OrderID)
	ofReset    = []Placeholder{SKU, Stock}
)

// Protocol compiles the description. cancels: orders will be cancelled. The error
// is a *FieldError.
func (s *Service) Protocol(cancels bool) (*Protocol, error) {
	buy, err := s.Request.compile("service.request", ofPurchase...)
	if err != nil {
		return nil, err
	}
	p := &Protocol{Buy: buy, Bought: s.bought, Cancelled: s.cancelled}
	if s.Cancel != nil {
		if p.Cancel, err = s.Cancel.compile("service.cancel", ofCancel...); err != nil {
			return nil, err
		}
		if s.OrderID == "" {
			return nil, Wrong("service.order_id", "an order is cancelled by its id: say where a sale tells it")
		}
	} else if cancels {
		return nil, Wrong("service.cancel", "cancellations are asked for: say how an order is cancelled")
	}
	if s.Reset != nil {
		if _, err := s.Reset.compile("service.reset", ofReset...); err != nil {
			return nil, err
		}
	}
	if err := s.checkAnswers(); err != nil {
		return nil, err
	}
	if s.Audit == "" {
		return nil, Wrong("service.audit", "no query for the audit: without a ledger nothing can be judged")
	}
	if _, err := ParseTemplate(s.Audit, SKU); err != nil {
		return nil, Wrong("service.audit", "%v", err)
	}
	return p, nil
}

func (s *Service) checkAnswers() error {
	sells := false
	for i, rule := range s.Answers {
		field := fmt.Sprintf("service.answers[%d]", i)
		if !slices.Contains(Outcomes, rule.Means) {
			return Wrong(field+".means", "an answer that means %q: there are %s", rule.Means, Join(Outcomes))
		}
		if rule.Status != 0 && (rule.Status < 200 || rule.Status > 599) {
			return Wrong(field+".status", "a status of %d: give 200 to 599", rule.Status)
		}
		if rule.Status == 0 && len(rule.JSON) == 0 {
			return Wrong(field, "an answer without status and JSON: every answer would fit")
		}
		for path, value := range rule.JSON {
			if _, ok := scalar(value); !ok {
				return Wrong(field+".json", "%s is compared with %v: give a text, a number, true, false or null", path, value)
			}
		}
		sells = sells || rule.Means == ledger.OutcomeSold
	}
	if !sells {
		return Wrong("service.answers", "no answer means %q: say how a sale is told", ledger.OutcomeSold)
	}
	return nil
}

func (r Request) compile(field string, allowed ...Placeholder) (m Message, err error) {
	m.Method = strings.ToUpper(r.Method)
	switch m.Method {
	case "":
		m.Method = http.MethodPost
	case "GET", "POST", "PUT", "PATCH", "DELETE":
	default:
		return m, Wrong(field+".method", "a method %q: give GET, POST, PUT, PATCH or DELETE", r.Method)
	}
	if !strings.HasPrefix(r.Path, "/") {
		return m, Wrong(field+".path", "a path %q: it must begin with /", r.Path)
	}
	if strings.ContainsAny(inBraces.ReplaceAllString(r.Path, ""), " \t\r\n#") {
		return m, Wrong(field+".path", "a path %q: escape what may not stand in an address", r.Path)
	}
	if m.Path, err = ParseTemplate(r.Path, allowed...); err != nil {
		return m, Wrong(field+".path", "%v", err)
	}
	if m.Body, err = ParseTemplate(r.Body, allowed...); err != nil {
		return m, Wrong(field+".body", "%v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		line, err := headerLine(name, r.Headers[name], allowed...)
		if err != nil {
			return m, Wrong(field+".headers", "%v", err)
		}
		m.Header = append(m.Header, line...)
	}
	return m, nil
}

// Keyed reports whether a request carries an idempotency key. Without one every
// call is another purchase.
func (s *Service) Keyed() bool {
	m, err := s.Request.compile("service.request", ofPurchase...)
	if err != nil {
		return false // Protocol says why
	}
	return slices.ContainsFunc(slices.Concat(m.Path, m.Header, m.Body), func(p part) bool { return p.is == RequestID })
}

// AuditQuery is the audit's query for one SKU.
func (s *Service) AuditQuery(sku int64) (string, error) {
	query, err := ParseTemplate(s.Audit, SKU)
	if err != nil {
		return "", err
	}
	return string(query.Append(nil, &Values{SKU: sku})), nil
}

// ResetSale asks the service at base to reset one SKU.
func (s *Service) ResetSale(ctx context.Context, client *http.Client, base string, sku, stock int64) error {
	m, err := s.Reset.compile("service.reset", ofReset...)
	if err != nil {
		return err
	}
	v := &Values{SKU: sku, Stock: stock}
	url := base + string(m.Path.Append(nil, v))
	req, err := http.NewRequestWithContext(ctx, m.Method, url, strings.NewReader(string(m.Body.Append(nil, v))))
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(m.Header.Append(nil, v)), "\r\n"), "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			req.Header.Set(name, value)
		}
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, MaxBody))
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("%s %s was answered %d: %s", m.Method, url, resp.StatusCode, Excerpt(body))
	}
	return nil
}

// A FieldError says which field of a scenario is wrong, and how.
type FieldError struct {
	Field string // as scenario files name it
	Text  string
}

func (e *FieldError) Error() string { return e.Text }

// Wrong makes a FieldError.
func Wrong(field, format string, args ...any) error {
	return &FieldError{field, fmt.Sprintf(format, args...)}
}

// Join lists texts for an error message.
func Join[S ~string](all []S) string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = string(s)
	}
	return strings.Join(texts, ", ")
}
