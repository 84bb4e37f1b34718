package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
)

const clients = 64

// versus runs both in turns of round requests, so that whatever else the
// machine does hits both, and reports the median of ours against bare: one
// turn that was disturbed does not count. Each side does b.N requests.
func versus(b *testing.B, round int, ours, bare func(requests int) error) {
	var took [2]time.Duration
	var ratios []float64
	b.ResetTimer()
	for left := b.N; left > 0; left -= round {
		var turn [2]time.Duration
		for side, work := range []func(int) error{ours, bare} {
			begun := time.Now()
			if err := work(min(left, round)); err != nil {
				b.Fatal(err)
			}
			turn[side] = time.Since(begun)
			took[side] += turn[side]
		}
		ratios = append(ratios, turn[1].Seconds()/turn[0].Seconds())
	}
	slices.Sort(ratios)
	b.ReportMetric(float64(b.N)/took[0].Seconds(), "ours/s")
	b.ReportMetric(float64(b.N)/took[1].Seconds(), "bare/s")
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkNoop: what this package adds to gin, with a strategy that does
// nothing, over real connections.
func BenchmarkNoop(b *testing.B) {
	s := serverWith(b, sells(), httpapi.Config{})
	bare := gin.New()
	bare.POST("/api/v1/seckill", func(c *gin.Context) {
		var body struct {
			SKU      int64 `json:"sku_id"`
			User     int64 `json:"user_id"`
			Quantity int64 `json:"quantity"`
		}
		if err := json.NewDecoder(c.Request.Body).Decode(&body); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, sale{"order-1", body.SKU, body.Quantity, 7, "bare"})
	})
	same := func() string { return good }
	versus(b, 2_000, over(b, s.Handler(), same), over(b, bare, same))
}

// BenchmarkConditional: the endpoint beside the same transaction, run without
// HTTP on the same server by as many clients with as many connections.
func BenchmarkConditional(b *testing.B) {
	in := labtest.Instance(b, backend.SQL)
	migrate(b, in)
	s := serverWith(b, nil, httpapi.Config{Instance: in})
	if r := ask(b, s, "PUT", "/api/v1/skus/1", `{"stock":1000000000}`); r.status != http.StatusOK {
		b.Fatalf("%s", r.body)
	}
	var user atomic.Int64
	next := func() string { return purchase(int(user.Add(1)), 1) }
	db := bareDB(b, in)
	versus(b, 500, over(b, s.Handler(), next), func(requests int) error {
		return shared(requests, func(n int) error {
			for range n {
				if err := bareTransaction(b.Context(), db, user.Add(1)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func bareDB(b *testing.B, in *backend.Instance) *sql.DB {
	b.Helper()
	c, err := mysql.ParseDSN(in.Config.MySQLDSN)
	if err != nil {
		b.Fatal(err)
	}
	if c.DBName == "" {
		c.DBName = "seckill"
	}
	c.InterpolateParams, c.ClientFoundRows = true, true
	connector, err := mysql.NewConnector(c)
	if err != nil {
		b.Fatal(err)
	}
	db := sql.OpenDB(connector)
	b.Cleanup(func() { db.Close() })
	ours, err := in.DB.DB()
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(ours.Stats().MaxOpenConnections)
	db.SetMaxIdleConns(ours.Stats().MaxOpenConnections)
	return db
}

// bareTransaction sends what conditional sends, statement by statement, for a
// buyer who can hang up.
func bareTransaction(ctx context.Context, db *sql.DB, user int64) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	res, err := tx.ExecContext(ctx, "UPDATE stock SET num = LAST_INSERT_ID(num - ?) WHERE id = ? AND num - ? >= 0", 1, 1, 1)
	if err != nil {
		return err
	}
	left, err := res.LastInsertId()
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO orders (id, public_id, request_id, user_id, sku_id, quantity, remaining, strategy, run, status) "+
		"VALUES (UUID_SHORT(), ?, ?, ?, ?, ?, ?, ?, (SELECT run FROM stock WHERE id = ?), (SELECT CASE WHEN starts_at IS NULL OR starts_at <= "+
		"(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000) THEN ? END FROM stock WHERE id = ?))",
		rand.Text(), rand.Text(), user, 1, 1, left, "bare", 1, "active", 1)
	if err != nil {
		return err
	}
	return tx.Commit()
}

// shared splits requests over the clients.
func shared(requests int, client func(n int) error) error {
	var g errgroup.Group
	for i := range clients {
		g.Go(func() error { return client((requests + i) / clients) })
	}
	return g.Wait()
}

// over sends purchases over connections that are kept. The client writes and
// reads by hand: net/http's would cost more than what is measured.
func over(b *testing.B, h http.Handler, body func() string) func(requests int) error {
	b.Helper()
	server := httptest.NewServer(h)
	b.Cleanup(server.Close)
	pool := make(chan *bufio.ReadWriter, clients)
	for range clients {
		conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { conn.Close() })
		pool <- bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn))
	}
	return func(requests int) error {
		return shared(requests, func(n int) error {
			conn := <-pool
			defer func() { pool <- conn }()
			for range n {
				if err := exchange(conn, body()); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func exchange(conn *bufio.ReadWriter, body string) error {
	fmt.Fprintf(conn, "POST /api/v1/seckill HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		len(body), body)
	if err := conn.Flush(); err != nil {
		return err
	}
	status, length := "", 0
	for {
		line, err := conn.ReadSlice('\n')
		if err != nil {
			return err
		}
		if status == "" {
			status = string(line)
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			length, _ = strconv.Atoi(strings.TrimSpace(string(value)))
		}
		if len(line) == 2 {
			break
		}
	}
	answer := make([]byte, length)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return err
	}
	if !strings.HasPrefix(status, "HTTP/1.1 200 ") {
		return fmt.Errorf("answered %s %s", status, answer)
	}
	return nil
}
