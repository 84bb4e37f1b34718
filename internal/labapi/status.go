package labapi

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/internal/backend"
	"seckill/internal/seckill"
)

// A Lab is what runs behind the page.
type Lab interface {
	Backends(context.Context) []backend.Status
	Services() []Service
}

// A Service is one service process.
type Service struct {
	URL   string `json:"url"`
	Up    bool   `json:"up"`
	Error string `json:"error,omitempty"` // why it is not, and where its log is
}

// Limits of a run, which the page checks before it asks.
type Limits struct {
	Stock       int64 `json:"stock"`
	Buyers      int   `json:"buyers"`
	Concurrency int   `json:"concurrency"`
	Quantity    int64 `json:"quantity"`
}

var limits = Limits{Stock: seckill.MaxStock, Buyers: 200_000, Concurrency: 1024, Quantity: seckill.MaxQuantity}

func (s *Server) status(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{
		"lab": s.id, "version": s.Version, "limits": limits, "token_needed": s.Token != "",
		"backends": s.Lab.Backends(c.Request.Context()), "services": s.Lab.Services(),
	})
}

// ready: a purchase that is sent now finds a service process.
func (s *Server) ready(c *gin.Context) {
	if len(s.live()) == 0 {
		refuse(c, noService)
		return
	}
	c.JSON(http.StatusOK, gin.H{"status": "ready"})
}

// live are the addresses of the service processes that have not ended.
func (s *Server) live() []string {
	var urls []string
	for _, service := range s.Lab.Services() {
		if service.Up {
			urls = append(urls, service.URL)
		}
	}
	return urls
}
