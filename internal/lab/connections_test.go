package lab_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// fill opens so many instances, as services do, and takes every connection
// that their pools may have.
func fill(t *testing.T, c backend.Config, services, pool int) error {
	t.Helper()
	c.MaxSQLConns = pool
	var taking errgroup.Group
	taking.SetLimit(16)
	for range services {
		in, err := backend.Open(t.Context(), c)
		if err != nil {
			return err
		}
		t.Cleanup(func() { in.Close() })
		business, err := in.DB.DB()
		must(t, "the pool", err)
		locks, err := in.LockDB.DB()
		must(t, "the locks' pool", err)
		for range pool {
			for _, p := range []*sql.DB{business, locks} {
				taking.Go(func() error {
					conn, err := p.Conn(t.Context())
					if err == nil {
						err = conn.PingContext(t.Context())
					}
					if err == nil {
						t.Cleanup(func() { conn.Close() })
					}
					return err
				})
			}
		}
	}
	return taking.Wait()
}

// A database that was given is asked how many connections it has.
func TestServicesShareWhatAGivenDatabaseAccepts(t *testing.T) {
	server := privateLab(t)
	admin := administrator(t, server)
	admin.SetMaxOpenConns(1) // which stays open when there are no others to be had
	set := func(n int) {
		_, err := admin.Exec(fmt.Sprint("SET GLOBAL max_connections = ", n))
		must(t, "set max_connections", err)
	}
	set(151)
	defer set(2024)
	l := started(t, lab.Options{Backends: []string{backend.NameMySQL},
		Given: backend.Config{MySQLDSN: server.Config().MySQLDSN}})
	for services, want := range map[int]int{1: 32, 2: 28, 16: 3} {
		if got, err := l.PoolSize(t.Context(), services); got != want || err != nil {
			t.Errorf("%d services: pools of %d, %v; want %d", services, got, err, want)
		}
	}
	must(t, "take every connection", fill(t, l.Config(), 16, 3))
	must(t, "come in beside them", mysqlAt(t, l.Config().MySQLDSN).Ping())
	must(t, "serve", l.Serve(t.Context(), lab.ServiceSettings{Services: 2, Lease: 1, Wait: 1, Poll: 1}))
	if args := get(t, l.Services()[0].URL+"/arguments"); !strings.HasSuffix(args, "--mysql-conns 28") {
		t.Errorf("a service runs with %q, want 28 connections in a pool", args)
	}
	set(20)
	if _, err := l.PoolSize(t.Context(), 16); err == nil {
		t.Error("16 services on 20 connections: want that they are too few")
	}
}
