package labapi

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// A problem is an answer of type application/problem+json, in the form that
// the service uses too.
type problem struct {
	Type      string  `json:"type"`
	Title     string  `json:"title"`
	Status    int     `json:"status"`
	Code      string  `json:"code"`
	Detail    string  `json:"detail"`
	RequestID string  `json:"request_id"`
	Ask       string  `json:"ask,omitempty"` // where to look what became of it
	Errors    []blame `json:"errors,omitempty"`
}

// A blame names a field of a request that is wrong, and how: in words, and as
// a stable code with what it is about, from which a page makes words of its own.
type blame struct {
	Field  string         `json:"field"`
	Detail string         `json:"detail"`
	Code   string         `json:"code"`
	Params map[string]any `json:"params,omitempty"`
}

// blame adds a wrong field.
func (p *problem) blame(field, code string, params map[string]any, detail string) {
	p.Errors = append(p.Errors, blame{field, detail, code, params})
	var all []string
	for _, e := range p.Errors {
		all = append(all, e.Field+": "+e.Detail)
	}
	p.Detail = strings.Join(all, "; ")
}

// invalid is a request with one wrong field.
func invalid(field, code string, params map[string]any, detail string) *problem {
	p := &problem{Code: "invalid", Status: http.StatusBadRequest}
	p.blame(field, code, params, detail)
	return p
}

const problemType = "application/problem+json"

// write answers with p, which is a copy: some problems are variables.
func (p problem) write(w http.ResponseWriter) {
	p.Type = "urn:seckill:problem:" + p.Code
	p.Title = http.StatusText(p.Status)
	if p.RequestID == "" {
		p.RequestID = rand.Text()
		w.Header().Set(headerRequestID, p.RequestID)
	}
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // whoever has hung up needs no answer
}

func refuse(c *gin.Context, p problem) {
	p.write(c.Writer)
	c.Abort()
}

func notFound(c *gin.Context) {
	refuse(c, problem{Code: "not_found", Status: http.StatusNotFound,
		Detail: "There is nothing at " + c.Request.URL.Path + "."})
}

// noService uses the code by which the service itself says that provably
// nothing was taken.
var noService = problem{Code: "backend_unavailable", Status: http.StatusServiceUnavailable,
	Detail: "No service process answers, so nothing was sent. The lab's status says where their logs are."}
