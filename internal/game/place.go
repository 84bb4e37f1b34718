package game

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/probe"
)

// Games share servers with one another, and with what else a lab does. Some
// strategies lock a whole table, so each game has a database of its own; keys in
// the other servers have its SKUs in their names, which are its own, too.

// patience is how long leases live and waits last that no move ends: longer than
// any game.
const patience = 24 * time.Hour

// A place is where one game is played: a world on a block of SKUs and a database of
// its own. The block is claimed by a lock of the session: what is not claimed is left
// from a lab that was killed.
type place struct {
	world  *explore.World
	block  int64
	cfg    *mysql.Config // of its database
	server *sql.DB
	claim  *sql.Conn
}

// Blocks of SKUs begin here, and there are so many.
const (
	firstSKU = 700_000_000_000
	blocks   = 90_000
)

// openPlace makes a database and a world on it, which leave takes away again.
// service is for actors that ask it; nil: there are none.
func openPlace(ctx context.Context, config backend.Config, info catalog.Info, service explore.Service) (*place, error) {
	config = config.Only(info.Uses()...)
	p, err := claimPlace(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("find a database for the game: %w", err)
	}
	config.MySQLDSN = p.cfg.FormatDSN()
	p.world, err = explore.Open(ctx, info, config, explore.Options{Service: service, Patience: patience, FirstSKU: p.block * explore.SKUs})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open a database for the game: %w", err), p.leave(ctx))
	}
	return p, nil
}

const databasePrefix = "seckill_game_"

// claimPlace takes a block that no game has, in this lab or another on the server.
func claimPlace(ctx context.Context, config backend.Config) (p *place, err error) {
	p = &place{}
	if p.server, p.cfg, err = openServer(config); err != nil {
		return nil, err
	}
	p.claim, err = p.server.Conn(ctx)
	for claimed := false; err == nil && !claimed; {
		p.block = firstSKU/explore.SKUs + rand.Int64N(blocks)
		p.cfg.DBName = fmt.Sprint(databasePrefix, p.block)
		err = p.claim.QueryRowContext(ctx, "SELECT GET_LOCK(?, 0)", p.cfg.DBName).Scan(&claimed)
	}
	if err != nil {
		return nil, errors.Join(err, p.server.Close())
	}
	return p, nil
}

// openServer opens a pool on no database. The configuration is for one of its own.
func openServer(config backend.Config) (*sql.DB, *mysql.Config, error) {
	cfg, err := mysql.ParseDSN(config.MySQLDSN)
	if err != nil {
		return nil, nil, fmt.Errorf("the MySQL address: %w", err)
	}
	server := cfg.Clone()
	server.DBName = ""
	connector, err := mysql.NewConnector(server)
	if err != nil {
		return nil, nil, err
	}
	return sql.OpenDB(connector), cfg, nil
}

// leaving bounds how long the end of a game may take.
const leaving = 30 * time.Second

// leave forgets the world's keys, drops the database and frees the block, even after
// ctx has ended: nothing else removes them.
func (p *place) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaving)
	defer cancel()
	var err error
	if p.world != nil {
		err = errors.Join(p.world.Forget(ctx), p.world.Close())
	}
	_, dropped := p.claim.ExecContext(ctx, "DROP DATABASE IF EXISTS `"+p.cfg.DBName+"`")
	return errors.Join(err, dropped, p.claim.Close(), p.server.Close())
}

// sweep removes what games of labs that were killed have left on these servers,
// and returns how many those were.
func sweep(ctx context.Context, config backend.Config) (swept int, err error) {
	server, _, err := openServer(config)
	if err != nil {
		return 0, err
	}
	defer server.Close()
	claim, err := server.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer claim.Close()
	rows, err := claim.QueryContext(ctx, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME REGEXP '^"+databasePrefix+"[0-9]+$'")
	if err != nil {
		return 0, err
	}
	var names []string
	for rows.Next() {
		var name string
		err = errors.Join(err, rows.Scan(&name))
		names = append(names, name)
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	var in *backend.Instance
	for _, name := range names {
		var free bool
		if err := claim.QueryRowContext(ctx, "SELECT GET_LOCK(?, 0)", name).Scan(&free); err != nil || !free {
			continue // its game is on, here or in another lab
		}
		if in == nil {
			if in, err = backend.Open(ctx, config); err != nil {
				return swept, err
			}
			defer in.Close()
		}
		set, err := probe.Of(ctx, in, catalog.Info{})
		if err == nil {
			err = set.Forget(ctx, strings.TrimPrefix(name, databasePrefix))
		}
		if err == nil {
			_, err = claim.ExecContext(ctx, "DROP DATABASE `"+name+"`")
		}
		if err != nil {
			return swept, err
		}
		swept++
		if _, err := claim.ExecContext(ctx, "DO RELEASE_LOCK(?)", name); err != nil {
			return swept, err
		}
	}
	return swept, nil
}

// Missing says why no game of a strategy can be played on these servers; nil if
// one can.
func Missing(config backend.Config, info catalog.Info) (why []string) {
	if config.MySQLDSN == "" {
		return []string{"a game needs a real MySQL or MariaDB: install one (seckill doctor says how)"}
	}
	for _, name := range backend.NamesOf(info.Uses()...) {
		if config.Tiers[name] == backend.Embedded {
			why = append(why, "a game asks the servers who waits in them, which an embedded "+name+" cannot say: install a real one (seckill doctor says how)")
		}
	}
	if slices.Contains(info.Needs, backend.RedisQuorum) && len(config.RedlockAddrs) == 0 {
		why = append(why, "no five independent Redis nodes are configured")
	}
	return why
}

// byHand is the schedule of the explorer's choices, with the moves that come by
// themselves there, and how it ends.
func (p *place) byHand(ctx context.Context, s *explore.Scenario, choices []explore.Choice) (view explore.View, made []explore.Choice, err error) {
	live, view, err := p.world.Begin(ctx, s)
	if err != nil {
		return view, nil, err
	}
	defer live.End()
	for view.Schedule == nil && len(made) < longest {
		next := view.Options[0].Choice
		if len(choices) > 0 && next.Fault != explore.TimePasses {
			next, choices = choices[0], choices[1:]
		}
		if view, err = live.Choose(ctx, next); err != nil {
			return view, made, fmt.Errorf("play the explorer's schedule: %w", err)
		}
		made = append(made, next)
	}
	return view, made, nil
}
