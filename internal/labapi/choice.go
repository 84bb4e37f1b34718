package labapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"seckill/internal/catalog"
)

// strategy finds the one that a field names, or blames the field for what is
// wrong with it.
func (s *Server) strategy(field, name string, p *problem) catalog.Info {
	i := slices.IndexFunc(s.Strategies, func(i catalog.Info) bool { return i.Name == name })
	params := map[string]any{"name": name}
	switch {
	case name == "":
		p.blame(field, "none", nil, "name a strategy")
	case i < 0:
		p.Code, p.Status = "unknown_strategy", http.StatusNotFound
		p.blame(field, "unknown_strategy", params, fmt.Sprintf("there is no strategy %q", name))
	default:
		if missing := s.Missing(s.Strategies[i]); missing != nil {
			why := strings.Join(missing, "; ")
			params["why"] = why
			p.Code, p.Status = "strategy_unavailable", http.StatusServiceUnavailable
			p.blame(field, "strategy_unavailable", params, fmt.Sprintf("%s cannot run here: %s", name, why))
		}
		return s.Strategies[i]
	}
	return catalog.Info{}
}
