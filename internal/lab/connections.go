package lab

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

const (
	// MostServices is how many service processes a lab may have.
	MostServices = 16
	// A service process has two pools of connections to the database.
	poolsOfService = 2
	connsOfPool    = 32
	// spareConnections are for the page, the judge, baselines, benchmarks and
	// people's own clients.
	spareConnections = 1000

	maxConnections = MostServices*poolsOfService*connsOfPool + spareConnections
)

// poolSize divides the connections that a database which was given accepts
// among the pools of so many services, and keeps a quarter back for others.
// 0: the services' default is right.
func (l *Lab) poolSize(ctx context.Context, services int) (int, error) {
	dsn := l.options.Given.MySQLDSN
	if dsn == "" || services < 1 {
		return 0, nil
	}
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return 0, err
	}
	config.DBName = "" // it may not exist yet
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return 0, err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	var all, ofUser int
	if err := db.QueryRowContext(ctx, "SELECT @@max_connections, @@max_user_connections").Scan(&all, &ofUser); err != nil {
		return 0, fmt.Errorf("ask the database how many connections it accepts: %w", err)
	}
	if ofUser > 0 {
		all = min(all, ofUser)
	}
	size := all * 3 / 4 / (services * poolsOfService)
	if size < 2 {
		return 0, fmt.Errorf("the database accepts %d connections, too few for %d service processes: "+
			"start fewer, or raise its max_connections", all, services)
	}
	return min(size, connsOfPool), nil
}
