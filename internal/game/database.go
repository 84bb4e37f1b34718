package game

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
)

// A database is the MySQL database of one game, and the explore.World that runs the sale there.
//
// Games share the lab's servers with one another and with the lab's load runs. Some strategies lock a whole table, so
// each game gets a database of its own. On the other servers the keys contain the SKU of the game.
//
// A game reserves the name of its database with GET_LOCK. MySQL releases this lock when the session ends. So the
// name becomes free even if the lab is killed.
type database struct {
	world  *explore.World
	cfg    *mysql.Config // the connection settings with the name of the game's database
	server *sql.DB
	claim  *sql.Conn // the session that holds the lock on the database's name
}

func openDatabase(ctx context.Context, config backend.Config, info catalog.Info) (*database, error) {
	config = config.Only(info.Uses()...)
	d, err := claimDatabase(ctx, config)
	if err == nil {
		config.MySQLDSN = d.cfg.FormatDSN()
		d.world, err = explore.Open(ctx, info, config, explore.Options{ByHand: true})
		if err != nil {
			err = errors.Join(err, d.close(ctx))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open a database for the game: %w", err)
	}
	return d, nil
}

// claimDatabase reserves a database name that no game on the MySQL server uses. Several labs may run games on this
// server. If a killed lab has left a database with the reserved name, claimDatabase drops it.
func claimDatabase(ctx context.Context, config backend.Config) (_ *database, err error) {
	d := &database{}
	if d.cfg, err = backend.ParseMySQL(config.MySQLDSN); err != nil {
		return nil, err
	}
	noDatabase := d.cfg.Clone()
	noDatabase.DBName = ""
	connector, err := mysql.NewConnector(noDatabase)
	if err != nil {
		return nil, err
	}
	d.server = sql.OpenDB(connector)
	d.claim, err = d.server.Conn(ctx)
	for n, claimed := 1, false; err == nil && !claimed; n++ {
		d.cfg.DBName = fmt.Sprint("seckill_game_", n)
		err = d.claim.QueryRowContext(ctx, "SELECT GET_LOCK(?, 0)", d.cfg.DBName).Scan(&claimed)
	}
	if err == nil {
		err = d.drop(ctx)
	}
	if err != nil {
		// server.Close does not close this connection, so the connection would keep the name reserved.
		if d.claim != nil {
			err = errors.Join(err, d.claim.Close())
		}
		return nil, errors.Join(err, d.server.Close())
	}
	return d, nil
}

func (d *database) drop(ctx context.Context) error {
	_, err := d.claim.ExecContext(ctx, "DROP DATABASE IF EXISTS `"+d.cfg.DBName+"`")
	return err
}

const closeTimeout = 30 * time.Second

// close drops the database and frees its name. It does so even if ctx has ended, because nothing else would remove
// the database.
func (d *database) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	var err error
	if d.world != nil {
		err = d.world.Close()
	}
	return errors.Join(err, d.drop(ctx), d.claim.Close(), d.server.Close())
}

// WhyUnplayable returns the reason why a strategy cannot be played on these servers; "" if it can.
func WhyUnplayable(config backend.Config, info catalog.Info) string {
	if config.MySQLDSN == "" {
		return "a game needs a real MySQL or MariaDB: install one (seckill doctor says how)"
	}
	for _, name := range backend.NamesOf(info.Uses()...) {
		if config.Tiers[name] == backend.Embedded {
			return "a game asks the servers which sessions wait, and an embedded " + name +
				" cannot answer that: install a real one (seckill doctor says how)"
		}
	}
	return ""
}
