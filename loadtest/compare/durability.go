package compare

import (
	"context"
	"fmt"
	"strings"
	"time"

	"seckill/internal/backend"
)

// Durability reads from the servers what an answer of theirs is worth: whether
// a commit is on disk, what a transaction sees.
func Durability(ctx context.Context, in *backend.Instance) []Setting {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	all := []Setting{}
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
			all = append(all, Setting{"sqlite", name, orError(value, err)})
		}
	}
	if in.Redis != nil {
		for _, name := range []string{"appendonly", "appendfsync", "save"} {
			got, err := in.Redis.ConfigGet(ctx, name).Result()
			value := got[name]
			if value == "" && err == nil {
				value = "none"
			}
			all = append(all, Setting{backend.NameRedis, name, orError(value, err)})
		}
	}
	return all
}

const unknownVariable = "not known to this server"

func variable(ctx context.Context, in *backend.Instance, name string) Setting {
	var row struct {
		Name  string `gorm:"column:Variable_name"`
		Value string `gorm:"column:Value"`
	}
	result := in.DB.WithContext(ctx).Raw("SHOW VARIABLES LIKE ?", strings.ReplaceAll(name, "_", `\_`)).Scan(&row)
	if result.Error == nil && result.RowsAffected == 0 {
		row.Value = unknownVariable
	}
	return Setting{backend.NameMySQL, name, orError(row.Value, result.Error)}
}

func orError(value string, err error) string {
	if err != nil {
		return fmt.Sprintf("could not be read: %v", err)
	}
	return value
}
