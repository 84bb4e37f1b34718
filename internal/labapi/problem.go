package labapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// A problem is an answer of type application/problem+json, in the form that
// the service uses too.
type problem struct {
	Type   string  `json:"type"`
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Code   string  `json:"code"`
	Detail string  `json:"detail"`
	Errors []field `json:"errors,omitempty"`
}

// A field of a request that is wrong, and how.
type field struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

const problemType = "application/problem+json"

func (p *problem) fill() {
	p.Type = "urn:seckill:problem:" + p.Code
	p.Title = http.StatusText(p.Status)
}

func refuse(c *gin.Context, p problem) {
	p.fill()
	c.Header("Content-Type", problemType)
	c.AbortWithStatusJSON(p.Status, p)
}

func notFound(c *gin.Context) {
	refuse(c, problem{Code: "not_found", Status: http.StatusNotFound,
		Detail: "There is nothing at " + c.Request.URL.Path + "."})
}

// noService uses the code by which the service itself says that provably
// nothing was taken.
var noService = problem{Code: "backend_unavailable", Status: http.StatusServiceUnavailable,
	Detail: "No service process answers, so nothing was sent. The lab's status says where their logs are."}
