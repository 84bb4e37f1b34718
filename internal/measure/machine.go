package measure

import (
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
	if in.DB != nil && in.Config.MySQLDSN != "" {
		for _, name := range []string{"innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin", "innodb_doublewrite"} {
			all = append(all, variable(ctx, in, name))
		}
		isolation := variable(ctx, in, "transaction_isolation") // MySQL, and MariaDB from 11.1
		if isolation.Value == unknownVariable {
			isolation = variable(ctx, in, "tx_isolation")
		}
		all = append(all, isolation)
	}
	if in.DB != nil && in.Config.SQLitePath != "" {
		for _, name := range []string{"journal_mode", "synchronous"} {
			var value string
			err := in.DB.WithContext(ctx).Raw("PRAGMA " + name).Row().Scan(&value)
			all = append(all, ServerSetting{"sqlite", name, orError(value, err)})
		}
	}
	if in.Redis != nil {
		for _, name := range []string{"appendonly", "appendfsync", "save"} {
			got, err := in.Redis.ConfigGet(ctx, name).Result()
			value := got[name]
			if value == "" && err == nil {
				value = "none"
			}
			all = append(all, ServerSetting{backend.NameRedis, name, orError(value, err)})
		}
	}
	return all
}

const unknownVariable = "not known to this server"

func variable(ctx context.Context, in *backend.Instance, name string) ServerSetting {
	var row struct {
		Name  string `gorm:"column:Variable_name"`
		Value string `gorm:"column:Value"`
	}
	result := in.DB.WithContext(ctx).Raw("SHOW VARIABLES LIKE ?", strings.ReplaceAll(name, "_", `\_`)).Scan(&row)
	if result.Error == nil && result.RowsAffected == 0 {
		row.Value = unknownVariable
	}
	return ServerSetting{backend.NameMySQL, name, orError(row.Value, result.Error)}
}

func orError(value string, err error) string {
	if err != nil {
		return fmt.Sprintf("could not be read: %v", err)
	}
	return value
}
