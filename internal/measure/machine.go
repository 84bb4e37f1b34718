package measure

import (
	"cmp"
	"context"
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

// A Run says in the lessons where figures come from.
type Run struct {
	Command string    `json:"command"`
	Begun   time.Time `json:"begun"`
	OS      string    `json:"os"`
	CPUs    int       `json:"cpus"`
	Servers []string  `json:"servers"`
}

// RunOf describes a run.
func RunOf(command string, begun time.Time, m Machine, servers []backend.Status) Run {
	return Run{command, begun, m.OS, m.CPUs, Versions(servers)}
}

// String is a line of Markdown.
func (r Run) String() string {
	text := fmt.Sprintf("`%s`, %s, %d processors, %s", r.Command, r.Begun.UTC().Format("2006-01-02"), r.CPUs, r.OS)
	return strings.Join(append([]string{text}, r.Servers...), ", ")
}

// A ServerSetting decides what a server's answers are worth.
type ServerSetting struct {
	Backend string `json:"backend"`
	Name    string `json:"name"`
	Value   string `json:"value"` // or why it could not be read
}

// Durability reads the settings that say whether a commit is on disk. It never fails: an unreadable setting says so.
func Durability(ctx context.Context, in *backend.Instance) []ServerSetting {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	all := []ServerSetting{}
	add := func(server, name, value string, err error) {
		if err != nil {
			value = fmt.Sprintf("could not be read: %v", err)
		}
		all = append(all, ServerSetting{server, name, value})
	}
	if in.DB != nil && in.Config.MySQLDSN != "" {
		for _, name := range []string{"innodb_flush_log_at_trx_commit", "log_bin", "sync_binlog"} {
			var value string
			err := in.DB.WithContext(ctx).Raw("SELECT @@global." + name).Row().Scan(&value)
			add(backend.NameMySQL, name, value, err)
		}
	}
	if in.Redis != nil {
		for _, name := range []string{"appendonly", "appendfsync", "save"} {
			got, err := in.Redis.ConfigGet(ctx, name).Result()
			add(backend.NameRedis, name, cmp.Or(got[name], "none"), err)
		}
	}
	return all
}
