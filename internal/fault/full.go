package fault

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// Faults of a server that goes on, and refuses commands or has them wait.

// fillRedis has it refuse writes: its memory is used up, and it throws nothing away.
func fillRedis(ctx context.Context, s *scene) (*Injection, error) {
	limit := func(ctx context.Context, bytes int) error {
		return s.onRedis(ctx, func(in *backend.Instance) error { return in.Redis.Do(ctx, "CONFIG", "SET", "maxmemory", bytes).Err() })
	}
	if err := limit(ctx, 1); err != nil {
		return nil, fmt.Errorf("fill Redis: %w", err)
	}
	return s.injected(s.markRedis(ctx) != nil, func(ctx context.Context, e *Effect) error {
		if s.markRedis(ctx) == nil {
			e.void(WentOn)
		}
		return limit(ctx, 0)
	})
}

// fillEtcd raises the alarm NOSPACE, as etcd does itself when its database has
// reached its quota; here that is done without filling two gigabytes.
func fillEtcd(ctx context.Context, s *scene) (*Injection, error) {
	addr := s.process.Addr
	if err := noSpace(ctx, addr, "ACTIVATE"); err != nil {
		return nil, fmt.Errorf("fill etcd: %w", err)
	}
	return s.injected(refusesPut(ctx, addr), func(ctx context.Context, e *Effect) error {
		if !refusesPut(ctx, addr) {
			e.void(WentOn)
		}
		return noSpace(ctx, addr, "DEACTIVATE")
	})
}

// noSpace raises the alarm, or ends it.
func noSpace(ctx context.Context, addr, action string) error {
	var member struct {
		Header struct {
			ID string `json:"member_id"`
		} `json:"header"`
	}
	if err := lab.AskEtcd(ctx, addr+"/v3/maintenance/status", "{}", &member); err != nil {
		return err
	}
	return lab.AskEtcd(ctx, addr+"/v3/maintenance/alarm",
		fmt.Sprintf(`{"action":%q,"memberID":%q,"alarm":"NOSPACE"}`, action, member.Header.ID), new(json.RawMessage))
}

// refusesPut reports whether a write is refused for want of space.
func refusesPut(ctx context.Context, addr string) bool {
	err := lab.AskEtcd(ctx, addr+"/v3/kv/put", `{"key":"c2Vja2lsbC1tYXJr"}`, new(json.RawMessage)) // seckill-mark
	return err != nil && strings.Contains(err.Error(), "database space exceeded")
}

// lockRow holds the row for longer than a statement waits for it (error 1205).
func lockRow(ctx context.Context, s *scene) (*Injection, error) {
	dsn, _ := s.lab.AdminDSN()
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	c.DBName, c.Logger = "seckill", &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	tx, waited, err := holdRow(ctx, db, s.aim.SKU)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", LockRow, err), db.Close())
	}
	begun := time.Now()
	return s.injected(true, func(ctx context.Context, e *Effect) error {
		defer db.Close()
		after, err := rowLockWaits(ctx, db)
		e.Stood = int(time.Since(begun).Milliseconds())
		if after == waited {
			e.void(NotMet)
		}
		return errors.Join(err, tx.Rollback())
	})
}

// holdRow locks the row until the transaction ends. waited is how often statements
// have waited for rows before.
func holdRow(ctx context.Context, db *sql.DB, sku int64) (tx *sql.Tx, waited int64, err error) {
	if waited, err = rowLockWaits(ctx, db); err != nil {
		return nil, 0, err
	}
	if tx, err = db.BeginTx(context.WithoutCancel(ctx), nil); err != nil {
		return nil, 0, err
	}
	var num int64
	if err := tx.QueryRowContext(ctx, "SELECT num FROM stock WHERE id = ? FOR UPDATE", sku).Scan(&num); err != nil {
		return nil, 0, errors.Join(err, tx.Rollback())
	}
	return tx, waited, nil
}

// rowLockWaits is the server's own count.
func rowLockWaits(ctx context.Context, db *sql.DB) (n int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'innodb_row_lock_waits'").Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("read how often statements waited for rows: %w", err)
	}
	return n, nil
}
