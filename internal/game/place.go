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

// Games share servers with one another, and with what else a lab does. Some
// strategies lock a whole table, so each game has a database of its own; keys in
// the other servers have its SKUs in their names.

// A place is where one game is played: a world on a database of its own. Its name is
// claimed by a lock of the session, so that of a lab that was killed is free again.
type place struct {
	world  *explore.World
	cfg    *mysql.Config // of its database
	server *sql.DB
	claim  *sql.Conn
}

// openPlace makes a database and a world on it, which leave takes away again.
func openPlace(ctx context.Context, config backend.Config, info catalog.Info) (*place, error) {
	config = config.Only(info.Uses()...)
	p, err := claimPlace(ctx, config)
	if err == nil {
		config.MySQLDSN = p.cfg.FormatDSN()
		p.world, err = explore.Open(ctx, info, config, explore.Options{ByHand: true})
		if err != nil {
			err = errors.Join(err, p.closeAll(ctx))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open a database for the game: %w", err)
	}
	return p, nil
}

// claimPlace takes the first database that no game has, in this lab or another on the server.
func claimPlace(ctx context.Context, config backend.Config) (p *place, err error) {
	p = &place{}
	if p.cfg, err = backend.ParseMySQL(config.MySQLDSN); err != nil {
		return nil, err
	}
	none := p.cfg.Clone()
	none.DBName = ""
	connector, err := mysql.NewConnector(none)
	if err != nil {
		return nil, err
	}
	p.server = sql.OpenDB(connector)
	p.claim, err = p.server.Conn(ctx)
	for n, claimed := 1, false; err == nil && !claimed; n++ {
		p.cfg.DBName = fmt.Sprint("seckill_game_", n)
		err = p.claim.QueryRowContext(ctx, "SELECT GET_LOCK(?, 0)", p.cfg.DBName).Scan(&claimed)
	}
	if err == nil {
		err = p.dropDatabase(ctx)
	}
	if err != nil {
		if p.claim != nil { // Close of the server would leave the connection open, and the claim with it
			err = errors.Join(err, p.claim.Close())
		}
		return nil, errors.Join(err, p.server.Close())
	}
	return p, nil
}

func (p *place) dropDatabase(ctx context.Context) error {
	_, err := p.claim.ExecContext(ctx, "DROP DATABASE IF EXISTS `"+p.cfg.DBName+"`")
	return err
}

// leaving bounds how long the end of a game may take.
const leaving = 30 * time.Second

// closeAll drops the database and frees its name, even after ctx has ended: nothing else
// removes it.
func (p *place) closeAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaving)
	defer cancel()
	var err error
	if p.world != nil {
		err = p.world.Close()
	}
	return errors.Join(err, p.dropDatabase(ctx), p.claim.Close(), p.server.Close())
}

// Missing says why no game of a strategy can be played on these servers; "" if one
// can.
func Missing(config backend.Config, info catalog.Info) (why string) {
	if config.MySQLDSN == "" {
		return "a game needs a real MySQL or MariaDB: install one (seckill doctor says how)"
	}
	for _, name := range backend.NamesOf(info.Uses()...) {
		if config.Tiers[name] == backend.Embedded {
			return "a game asks the servers who waits in them, which an embedded " + name + " cannot say: install a real one (seckill doctor says how)"
		}
	}
	return ""
}
