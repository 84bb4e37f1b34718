package fault

import "fmt"

// A Lack is why a fault cannot be had here: a code with what it is about, for
// those who have sentences of their own, and one in English.
type Lack struct {
	Code   string         `json:"code"`
	Params map[string]any `json:"params,omitempty"`
	text   string
}

// Codes of Lacks.
const (
	LackServer   = "no_server"       // name: the lab has none
	LackGiven    = "given_server"    // name, address: it is not the lab's to break
	LackEmbedded = "embedded_server" // name: it has no process
	LackCluster  = "cluster_server"  // name: one of several would be hit
	LackLink     = "no_link"         // name: services reach it directly
	LackMariaDB  = "no_mariadb"      // the lab has no administrator's account
	LackTopology = "other_topology"  // name, topology: it is one server here
)

// NewLack is a Lack with its sentence in English.
func NewLack(code string, params map[string]any, format string, args ...any) *Lack {
	return &Lack{code, params, fmt.Sprintf(format, args...)}
}

// String is the sentence; "" of nil, which means that nothing is lacking.
func (l *Lack) String() string {
	if l == nil {
		return ""
	}
	return l.text
}
