package measure

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
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

// A ServerSetting decides what a server's answers are worth.
type ServerSetting struct {
	Backend string `json:"backend"`
	Name    string `json:"name"`
	Value   string `json:"value"` // or why it could not be read
}

// Durability reads the settings that say whether a commit is on disk and what a
// transaction sees. It never fails: an unreadable setting says so.
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
		var variables []struct {
			Name  string `gorm:"column:Variable_name"`
			Value string `gorm:"column:Value"`
		}
		err := in.DB.WithContext(ctx).Raw("SHOW VARIABLES WHERE Variable_name IN ?", []string{"innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin",
			"innodb_doublewrite", "transaction_isolation", "tx_isolation"}).Scan(&variables).Error // sorted
		for i, v := range variables {
			if i > 0 && v.Name == "tx_isolation" && variables[i-1].Name == "transaction_isolation" {
				continue // MariaDB from 11.1 on has both, before that the second, MySQL the first
			}
			add(backend.NameMySQL, v.Name, v.Value, nil)
		}
		if err != nil {
			add(backend.NameMySQL, "variables", "", err)
		}
	}
	if in.DB != nil && in.Config.SQLitePath != "" {
		for _, name := range []string{"journal_mode", "synchronous"} {
			var value string
			err := in.DB.WithContext(ctx).Raw("PRAGMA " + name).Row().Scan(&value)
			add("sqlite", name, value, err)
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
