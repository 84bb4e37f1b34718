// Package web has the parts that the HTTP servers of the service and of the lab share: problems,
// strict JSON, guards, and routers with limits.
package web

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"seckill/internal/seckill"
)

// HeaderRequestID is the header that connects an answer with the logs.
const HeaderRequestID = "X-Request-Id"

// ProblemType is the media type of every refusal.
const ProblemType = "application/problem+json"

// A Problem is the body of every refusal (RFC 9457), and the error of the handler that refuses.
// Write sets Type and Title from Code, and RequestID if it is empty.
type Problem struct {
	Type      string               `json:"type"`
	Title     string               `json:"title"`
	Status    int                  `json:"status"`
	Code      string               `json:"code"`
	Detail    string               `json:"detail"`
	RequestID string               `json:"request_id"`
	Ask       string               `json:"ask,omitempty"` // the call that reports the state of the request
	Errors    []seckill.FieldError `json:"errors,omitempty"`

	RetryAfter int64 `json:"-"` // seconds; 0 means no such header
	Err        error `json:"-"` // the cause, for errors.Is
}

func (p *Problem) Error() string { return p.Detail }
func (p *Problem) Unwrap() error { return p.Err }

// Blame adds a field that is wrong.
func (p *Problem) Blame(field, code string, params map[string]any, detail string) {
	p.Errors = append(p.Errors, seckill.FieldError{Field: field, Detail: detail, Code: code, Params: params})
	var all []string
	for _, e := range p.Errors {
		all = append(all, e.Error())
	}
	p.Detail = strings.Join(all, "; ")
}

// BadRequest returns a problem that names no field.
func BadRequest(detail string) *Problem {
	return &Problem{Code: "invalid", Status: http.StatusBadRequest, Detail: detail}
}

// Invalid returns a problem with one field. detail continues a sentence that begins with the field's
// name.
func Invalid(field, code string, params map[string]any, detail string) *Problem {
	p := BadRequest(field + " " + detail)
	p.Errors = []seckill.FieldError{{Field: field, Detail: detail, Code: code, Params: params}}
	return p
}

// Write answers with p. It takes a copy, because some problems are variables.
func (p Problem) Write(w http.ResponseWriter) {
	h := w.Header()
	p.Type, p.Title = "urn:seckill:problem:"+p.Code, strings.ReplaceAll(p.Code, "_", " ")
	if p.RequestID == "" {
		if p.RequestID = h.Get(HeaderRequestID); p.RequestID == "" {
			p.RequestID = rand.Text()
			h.Set(HeaderRequestID, p.RequestID)
		}
	}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(p.RetryAfter, 10))
	}
	h.Set("Content-Type", ProblemType)
	w.WriteHeader(p.Status)
	body, err := json.Marshal(p)
	if err != nil { // Params are ours: numbers, texts and lists of them
		panic(err)
	}
	_, _ = w.Write(body) // the caller may have hung up
}
