package labapi

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/internal/backend"
	"seckill/internal/fault"
	"seckill/internal/lab"
)

// A Lab is what runs behind the page; *lab.Lab is one.
type Lab interface {
	Backends() []backend.Status
	Services() []lab.Service
	Topology() string
	// Serve restarts the service processes with these settings;
	// ServiceSettings are those they run with.
	ServiceSettings() lab.ServiceSettings
	Serve(context.Context, lab.ServiceSettings) error
	// Inject injects one of Faults.
	Faults() []fault.Status
	Inject(context.Context, fault.Name, fault.Aim) (*fault.Injection, error)
}

func (s *Server) status(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{
		"lab": s.id, "version": s.Version, "limits": limits, "token_needed": s.Token != "",
		"backends": s.Lab.Backends(), "services": s.Lab.Services(),
		"services_settings": s.Lab.ServiceSettings(), "faults": s.Lab.Faults(), "topology": s.Lab.Topology(),
	})
}

// ready tells whether a purchase sent now finds a service process.
func (s *Server) ready(c *gin.Context) error {
	if len(s.live()) == 0 {
		return noService
	}
	c.JSON(http.StatusOK, gin.H{"status": "ready"})
	return nil
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
func (s *Server) LabChanged() {
	s.changes.Add(1)
	s.bell.ring()
}
