package game

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
)

// Games share servers with one another, and with what else a lab does. Some
// strategies lock a whole table, so each game has a database of its own; keys in
// the other servers have its SKUs in their names, which are its own, too.

// patience is how long leases live and waits last that no move ends: longer than
// any game.
const patience = 24 * time.Hour

// A place is where one game is played.
type place struct {
	world *explore.World
	drop  func(context.Context) error // the database
}

// Blocks of SKUs begin here, and there are so many.
const (
	firstSKU = 7_000_000_000
	blocks   = 90_000
)

// openPlace makes a database and a world on it, which leave takes away again.
// service is for actors that ask it; nil: there are none.
func openPlace(ctx context.Context, config backend.Config, info catalog.Info, service explore.Service) (*place, error) {
	first := int64(firstSKU + rand.IntN(blocks)*explore.SKUs)
	config = config.Only(info.Uses()...)
	cfg, err := mysql.ParseDSN(config.MySQLDSN)
	if err != nil {
		return nil, fmt.Errorf("the MySQL address: %w", err)
	}
	cfg.DBName = fmt.Sprintf("seckill_game_%d", first/explore.SKUs)
	config.MySQLDSN = cfg.FormatDSN()
	p := &place{drop: func(ctx context.Context) error { return dropDatabase(ctx, cfg) }}
	p.world, err = explore.Open(ctx, info, config, explore.Options{Service: service, Patience: patience, FirstSKU: first})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open a database for the game: %w", err), p.drop(context.WithoutCancel(ctx)))
	}
	return p, nil
}

func dropDatabase(ctx context.Context, cfg *mysql.Config) error {
	server := cfg.Clone()
	server.DBName = ""
	connector, err := mysql.NewConnector(server)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	_, err = db.ExecContext(ctx, "DROP DATABASE IF EXISTS `"+cfg.DBName+"`")
	return err
}

func (p *place) leave(ctx context.Context) error {
	err := p.world.Forget(ctx)
	return errors.Join(err, p.world.Close(), p.drop(ctx))
}

// Missing says why no game of a strategy can be played on these servers; nil if
// one can.
func Missing(config backend.Config, info catalog.Info) (why []string) {
	if config.MySQLDSN == "" {
		return []string{"a game needs a real MySQL or MariaDB: install one (seckill deps)"}
	}
	for _, name := range backend.NamesOf(info.Uses()...) {
		if config.Tiers[name] == backend.Embedded {
			why = append(why, "a game asks the servers who waits in them, which an embedded "+name+" cannot say: install a real one (seckill deps)")
		}
	}
	if slices.Contains(info.Needs, backend.RedisQuorum) && len(config.RedlockAddrs) == 0 {
		why = append(why, "no five independent Redis nodes are configured")
	}
	return why
}
