package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"seckill/internal/ledger"
)

// bought is what the first rule that fits says.
func (s *Service) bought(_ Order, got Response) Reply {
	var body any
	d := json.NewDecoder(bytes.NewReader(got.Body))
	d.UseNumber()
	isJSON := d.Decode(&body) == nil && !d.More()
	for _, rule := range s.Answers {
		if rule.Status != 0 && rule.Status != got.Status || len(rule.JSON) > 0 && !isJSON || !rule.fits(body) {
			continue
		}
		if rule.Means == ledger.OutcomeSold {
			return s.sale(body, got)
		}
		return Reply{Outcome: rule.Means, Code: string(rule.Means), Message: fmt.Appendf(nil, "status %d: %s", got.Status, Excerpt(got.Body))}
	}
	if got.Status >= 500 {
		return serverError(got)
	}
	return Nonsense("no rule fits status %d, %s: %s", got.Status, got.ContentType, Excerpt(got.Body))
}

func (s *Service) sale(body any, got Response) Reply {
	r := Reply{Outcome: ledger.OutcomeSold}
	if s.OrderID != "" {
		id, ok := scalar(at(body, s.OrderID))
		if !ok || id == "" || id == "null" {
			return Nonsense("a sale without %s: %s", s.OrderID, Excerpt(got.Body))
		}
		r.OrderID = []byte(id)
	}
	if s.Remaining != "" {
		text, _ := scalar(at(body, s.Remaining))
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Nonsense("a sale without a whole number as %s: %s", s.Remaining, Excerpt(got.Body))
		}
		r.Remaining = n
	}
	return r
}

func (s *Service) cancelled(got Response) Reply {
	switch {
	case got.Status >= 200 && got.Status < 300:
		return Reply{Outcome: ledger.OutcomeCancelled}
	case got.Status >= 500:
		return serverError(got)
	}
	return Reply{Outcome: ledger.OutcomeError, Code: fmt.Sprintf("http_%d", got.Status), Message: []byte(Excerpt(got.Body))}
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
