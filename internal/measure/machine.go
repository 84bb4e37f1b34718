package measure

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"seckill/internal/backend"
)

// A Machine is where a run was measured.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

// ThisMachine describes the machine of this process.
func ThisMachine() Machine {
	return Machine{runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()}
}

func (m Machine) String() string {
	return fmt.Sprintf("%d processors, %s/%s, %s", m.CPUs, m.OS, m.Arch, m.Go)
}

// Versions names the servers, each once, with how the lab got them.
func Versions(servers []backend.Status) (all []string) {
	seen := map[string]bool{"": true}
	for _, s := range servers {
		text := s.Version
		if text != "" && s.Tier != "" {
			text = fmt.Sprintf("%s (%s)", s.Version, s.Tier)
		}
		if !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
	return all
}

// A Run says where figures come from.
type Run struct {
	Command string    `json:"command"`
	Begun   time.Time `json:"begun"`
	Machine
	Servers []string `json:"servers"` // as Versions names them
}

// String is a line of Markdown.
func (r Run) String() string {
	text := fmt.Sprintf("`%s`, %s, %d processors, %s", r.Command, r.Begun.UTC().Format("2006-01-02"), r.CPUs, r.OS)
	return strings.Join(append([]string{text}, r.Servers...), ", ")
}
