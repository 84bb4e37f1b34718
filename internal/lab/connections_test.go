package lab_test

import (
	"fmt"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

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
	must(t, "serve", l.Serve(t.Context(), lab.ServiceSettings{Services: 2, Lease: 1, Wait: 1, Poll: 1}))
	if args := get(t, l.Services()[0].URL+"/arguments"); !strings.HasSuffix(args, "--mysql-conns 28") {
		t.Errorf("a service runs with %q, want 28 connections in a pool", args)
	}
	set(20)
	if _, err := l.PoolSize(t.Context(), 16); err == nil {
		t.Error("16 services on 20 connections: want that they are too few")
	}
}
