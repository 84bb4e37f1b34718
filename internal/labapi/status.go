package labapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// A Lab is what runs behind the page; *lab.Lab is one.
type Lab interface {
	Backends() []backend.Status
	Services() []lab.Service
}

// Limits of a run, which the page checks before it asks. They are narrower
// than the service's own: a run is kept in memory and watched by people.
type Limits struct {
	Stock       int64 `json:"stock"`
	Buyers      int   `json:"buyers"`
	Concurrency int   `json:"concurrency"`
	Quantity    int64 `json:"quantity"`
}

var limits = Limits{Stock: 1_000_000, Buyers: 200_000, Concurrency: 1024, Quantity: 1000}

func (s *Server) status(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{
		"lab": s.id, "version": s.Version, "limits": limits, "token_needed": s.Token != "",
		"backends": s.Lab.Backends(), "services": s.Lab.Services(),
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

// LabChanged tells the pages to ask for the status again.
func (s *Server) LabChanged() { s.book.announceLab() }
