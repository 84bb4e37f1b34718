package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/ledger"
	"seckill/internal/point"
	"seckill/strategies"
)

// ServeCmd runs one service process. The servers that the process needs must already run.
type ServeCmd struct {
	HelpAll  helpAll `help:"${HelpAll}"`
	Addr     string  `default:"127.0.0.1:8081" env:"SECKILL_ADDR" help:"Address to listen on."`
	Strategy string  `default:"conditional" env:"SECKILL_STRATEGY" help:"Strategy of purchases that name none."`

	Given           backend.Config `embed:""`
	ConnectionFlags `group:"rare"`
	Settings        catalog.Settings `embed:""`
	Token           string           `env:"SECKILL_TOKEN" placeholder:"TOKEN" help:"${Token}"`
	AdminAddr       string           `env:"SECKILL_ADMIN_ADDR" placeholder:"ADDR" help:"${AdminAddr}"`
	FaultPoints     bool             `group:"rare" env:"SECKILL_FAULT_POINTS" help:"${FaultPoints}"`

	PurchaseTimeout time.Duration `default:"10s" env:"SECKILL_PURCHASE_TIMEOUT" help:"How long a purchase may take."`
	ShutdownTimeout time.Duration `default:"15s" env:"SECKILL_SHUTDOWN_TIMEOUT" help:"${Shutdown}"`

	LogLevel slog.Level `default:"info" env:"SECKILL_LOG_LEVEL" help:"debug (with an access log), info, warn or error."`
}

// ConnectionFlags are the flags for the connections of a service to its backends.
type ConnectionFlags struct {
	Tiers      map[string]backend.Tier `mapsep:"," env:"SECKILL_TIERS" placeholder:"mysql=private" help:"${Tiers}"`
	MySQLConns int                     `name:"mysql-conns" default:"32" env:"SECKILL_MYSQL_CONNS" help:"${MySQLConns}"`

	Session time.Duration `name:"zookeeper-session" default:"6s" env:"SECKILL_ZOOKEEPER_SESSION" help:"${Session}"`
}

// Validate checks the flags before any file or connection is opened.
func (c *ServeCmd) Validate() error {
	if c.Given.MySQLDSN == "" && c.Given.SQLitePath == "" {
		return errors.New("the ledger needs a SQL database: give --mysql-dsn (SECKILL_MYSQL_DSN), " +
			"or --sqlite-path (SECKILL_SQLITE_PATH) to try it without a server")
	}
	if err := c.Given.Check(); err != nil {
		return err
	}
	chosen, err := strategyNamed("--strategy", c.Strategy)
	if err != nil {
		return err
	}
	c.Strategy = chosen.Name
	for _, need := range chosen.Uses() {
		if ok, why := c.Given.Has(need); !ok {
			return fmt.Errorf("--strategy %s: %s", c.Strategy, why)
		}
	}
	for _, flag := range []struct {
		name string
		ok   bool
		want string
	}{
		{"--mysql-conns", c.MySQLConns >= 1, "at least 1"},
		{"--lock-max-hold", c.Settings.MaxHold >= 0, "0 or longer, such as 1m"},
		{"--zookeeper-session", c.Session > 0, "longer than 0, such as 6s"},
		{"--retries", c.Settings.Retries >= 0, "0 or more"},
		{"--queue-at-once", c.Settings.QueueAtOnce >= 1, "at least 1"},
		{"--purchase-timeout", c.PurchaseTimeout > 0, "longer than 0, such as 10s"},
		{"--shutdown-timeout", c.ShutdownTimeout > 0, "longer than 0, such as 15s"},
	} {
		if !flag.ok {
			return fmt.Errorf("%s must be %s", flag.name, flag.want)
		}
	}
	if err := errors.Join(checkToken(c.Token), checkLockTimes(c.Settings.LockTimes), checkAddr(c.Addr)); err != nil {
		return err
	}
	tiers := []backend.Tier{backend.Given, backend.Private, backend.Embedded}
	for name, tier := range c.Tiers {
		if !slices.Contains(backend.Names(), name) || !slices.Contains(tiers, tier) {
			return fmt.Errorf("--tiers %s=%s: give BACKEND=TIER, with a backend of %s, and given, private or embedded",
				name, tier, strings.Join(backend.Names(), ", "))
		}
	}
	if c.AdminAddr == "" {
		return nil
	}
	if err := httpapi.CheckAdminAddr(c.AdminAddr); err != nil {
		return fmt.Errorf("--admin-addr: %w", err)
	}
	return nil
}

// Run answers requests until ctx ends. Then it waits for the purchases in flight.
func (c *ServeCmd) Run(ctx context.Context, stderr stderrWriter) error {
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: c.LogLevel}))
	slog.SetDefault(log)
	l, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return cannotListen("--addr", c.Addr, err)
	}
	defer l.Close()
	var admin net.Listener
	if c.AdminAddr != "" {
		if admin, err = net.Listen("tcp", c.AdminAddr); err != nil {
			return cannotListen("--admin-addr", c.AdminAddr, err)
		}
		defer admin.Close()
	}
	tokenFile := ""
	if c.Token == "" {
		folder, err := os.MkdirTemp("", "seckill-serve-*") // Only this user can open the folder, because its mode is 0700.
		if err != nil {
			return fmt.Errorf("make a folder for the admin token: %w (give SECKILL_TOKEN)", err)
		}
		defer os.RemoveAll(folder)
		c.Token, tokenFile = rand.Text(), filepath.Join(folder, "token")
		if err := os.WriteFile(tokenFile, []byte(c.Token+"\n"), 0o600); err != nil {
			return err
		}
	}
	config := c.Given
	config.Tiers, config.MaxSQLConns = c.Tiers, c.MySQLConns
	config.RowLockWait, config.ZooKeeperSession = c.Settings.LockWait, c.Session
	log.Info("opening the backends")
	in, err := backend.Open(ctx, config)
	switch {
	case err != nil && ctx.Err() != nil:
		return errors.New("stopped before it served")
	case err != nil:
		return err
	}
	defer func() {
		if err := in.Close(); err != nil {
			log.Warn("close the backends", "error", err)
		}
	}()
	if err := ledger.Migrate(ctx, in.DB); err != nil {
		return err
	}
	var points *point.Points
	if c.FaultPoints {
		// When ctx ends, the channel Done releases the purchases that a fault holds, so that a shutdown need not wait.
		points = &point.Points{Done: ctx.Done()}
	}
	server, err := httpapi.New(httpapi.Config{
		Instance: in, Points: points, Infos: strategies.All(), Default: c.Strategy, Token: c.Token, Log: log,
		Settings: c.Settings, PurchaseTimeout: c.PurchaseTimeout, ShutdownTimeout: c.ShutdownTimeout,
	})
	if err != nil {
		return err
	}
	if tokenFile != "" {
		log.Info("admin calls need the token in this file", "file", tokenFile)
	}
	together, ctx := errgroup.WithContext(ctx)
	if admin != nil {
		log.Info("admin calls without a token", "address", "http://"+admin.Addr().String())
		together.Go(func() error { return server.ServeAdmin(ctx, admin) })
	}
	together.Go(func() error { return server.Serve(ctx, l) })
	log.Info("serving", "address", "http://"+l.Addr().String(), "strategy", c.Strategy)
	return together.Wait()
}

func checkAddr(addr string) error {
	if _, err := net.ResolveTCPAddr("tcp", addr); err != nil {
		return fmt.Errorf("--addr %q is not an address to listen on, such as 127.0.0.1:8081: %w", addr, err)
	}
	return nil
}

func cannotListen(flag, addr string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use: end the program that listens there, or give another %s", addr, flag)
	}
	return fmt.Errorf("cannot listen on %s %s: %w", flag, addr, err)
}

// redisLog logs the messages of go-redis at debug level, because go-redis also returns the errors that it logs.
type redisLog struct{}

func (redisLog) Printf(ctx context.Context, format string, args ...any) {
	slog.DebugContext(ctx, fmt.Sprintf(format, args...))
}
