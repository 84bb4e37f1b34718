// Package web has the parts that the HTTP servers of the service and of the lab share: problems
// (error answers), strict JSON, guards against foreign callers, and routers with limits.
package web

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"seckill/internal/seckill"
)

// HeaderRequestID is the header with the id of a request. The logs have the same id.
const HeaderRequestID = "X-Request-Id"

// ProblemType is the media type of every error answer.
const ProblemType = "application/problem+json"

// A Problem is the body of every error answer (RFC 9457). It is also the error that a handler
// returns for such an answer. Write sets Type and Title from Code, and RequestID if it is empty.
type Problem struct {
	Type      string               `json:"type"`
	Title     string               `json:"title"`
	Status    int                  `json:"status"`
	Code      string               `json:"code"`
	Detail    string               `json:"detail"`
	RequestID string               `json:"request_id"`
	Ask       string               `json:"ask,omitempty"` // the path of the call that reports the state of the request
	Errors    []seckill.FieldError `json:"errors,omitempty"`

	RetryAfter int64 `json:"-"` // the value of the header Retry-After, in seconds; 0 means no such header
	Err        error `json:"-"` // the error behind the problem, for errors.Is
}

func (p *Problem) Error() string { return p.Detail }
func (p *Problem) Unwrap() error { return p.Err }

// Blame adds an error about a field of the request.
func (p *Problem) Blame(field, code string, params map[string]any, detail string) {
	p.Errors = append(p.Errors, seckill.FieldError{Field: field, Detail: detail, Code: code, Params: params})
	var all []string
	for _, e := range p.Errors {
		all = append(all, e.Error())
	}
	p.Detail = strings.Join(all, "; ")
}

// BadRequest returns a problem that is not about a certain field.
func BadRequest(detail string) *Problem {
	return &Problem{Code: "invalid", Status: http.StatusBadRequest, Detail: detail}
}

// Invalid returns a problem about one field. The text detail completes a sentence that begins with the field's name.
func Invalid(field, code string, params map[string]any, detail string) *Problem {
	p := BadRequest(field + " " + detail)
	p.Errors = []seckill.FieldError{{Field: field, Detail: detail, Code: code, Params: params}}
	return p
}

// Write answers a request with p. It changes only a copy of p, because several requests may share p.
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
	if err != nil { // this cannot happen, because Params has only numbers, texts and lists of them
		panic(err)
	}
	_, _ = w.Write(body) // this fails only if the caller has hung up
}
