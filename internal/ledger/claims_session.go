package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/base32"
	"fmt"
	"strings"
)

// send claims keys and gives others up, in one statement.
func (c *Claims) send(ctx context.Context, asking []*claim, free []freed) error {
	if c.scope == "" {
		if err := c.db.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&c.scope); err != nil {
			return err
		}
	}
	query, args := c.statement(asking, free)
	rows, err := c.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var session sql.NullInt64 // what begin has set; NULL: a new one
	orders := map[requestKey]*Order{}
	for rows.Next() {
		var granted string
		var request, public, strategy sql.NullString
		var user, sku, quantity, remaining sql.NullInt64
		if err := rows.Scan(&session, &granted, &request, &user, &public, &sku, &quantity, &remaining, &strategy); err != nil {
			return err
		}
		for n, a := range asking {
			a.granted = granted[n] == '1'
		}
		if public.Valid {
			orders[requestKey{user.Int64, request.String}] = &Order{PublicID: public.String, RequestID: request.String,
				UserID: user.Int64, SKUID: sku.Int64, Quantity: quantity.Int64, Remaining: remaining.Int64, Strategy: strategy.String}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	rows.Close()
	for _, a := range asking {
		a.order = orders[a.requestKey]
	}
	if !session.Valid {
		return c.begin(ctx)
	}
	return nil
}

// drop ends the session: the server may have granted some keys of a statement that
// failed. The next session claims again what is under way.
func (c *Claims) drop(ctx context.Context) {
	if conn, err := c.db.Conn(ctx); err == nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		_ = conn.Close() // it is closed
	}
}

// statement claims, gives up and looks up. Its first column but one has a
// character for each claim: 1, granted.
//
// The locks are taken while the inner table is made, before any order is looked
// up; LIMIT keeps the server from merging that table into the rest. An order that
// appears in between is found when the purchase is refused (Undecided).
//
// The index is forced: early in a sale, statistics still say that a scan of all
// orders is cheaper.
func (c *Claims) statement(asking []*claim, free []freed) (query string, args []any) {
	var locks, keys []string
	var which []any
	for _, a := range asking {
		locks, args = append(locks, "COALESCE(GET_LOCK(?, 0), 0)"), append(args, c.name(a.requestKey))
		keys, which = append(keys, "(?, ?)"), append(which, a.id, a.user)
	}
	for _, f := range free {
		locks, args = append(locks, "COALESCE(RELEASE_LOCK(?), 0)"), append(args, f.name)
	}
	got := "SELECT CONCAT(" + strings.Join(locks, ", ") + ") AS got"
	if len(keys) == 0 { // an outer join ON FALSE would read all orders
		return "SELECT @seckill_keys, k.got, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM (" + got + ") k", args
	}
	return "SELECT @seckill_keys, k.got, o.request_id, o.user_id, o.public_id, o.sku_id, o.quantity, o.remaining, o.strategy " +
		"FROM (" + got + " LIMIT 1) k " +
		"LEFT JOIN orders o FORCE INDEX (orders_request_in_run) ON (o.request_id, o.user_id) IN (" + strings.Join(keys, ", ") + ")" +
		" AND o.run = (SELECT s.run FROM stock s WHERE s.id = o.sku_id)", append(args, which...)
}

// begin sets up a new session. When it replaces one that broke, it claims again
// what purchases under way had claimed.
func (c *Claims) begin(ctx context.Context) error {
	if _, err := c.db.ExecContext(ctx, "SET SESSION wait_timeout = ?, @seckill_keys = 1", int(c.idle.Seconds())); err != nil {
		return err
	}
	c.mu.Lock()
	var names []any
	for k, granted := range c.mine {
		if granted {
			names = append(names, c.name(k))
		}
	}
	c.mu.Unlock()
	for len(names) > 0 {
		n := min(len(names), mostClaims)
		_, err := c.db.ExecContext(ctx, "DO GET_LOCK(?, 0)"+strings.Repeat(", GET_LOCK(?, 0)", n-1), names[:n]...)
		if err != nil {
			return err
		}
		names = names[n:]
	}
	return nil
}

// name is the lock's: MySQL allows 64 characters.
func (c *Claims) name(k requestKey) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s", c.scope, k.user, k.id))
	return "seckill:key:" + base32.HexEncoding.EncodeToString(sum[:20])
}
