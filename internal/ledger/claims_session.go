package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base32"
	"fmt"
	"math/bits"
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
	var session int64
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
	if session != c.session {
		c.session = session
		return c.begin(ctx)
	}
	return nil
}

// statement claims, gives up and looks up. Its first column but one has a
// character for each claim: 1, granted.
//
// Its text has room for a power of two of each, so that there are few texts and
// the server has parsed them before; empty names fill up what is not needed.
func (c *Claims) statement(asking []*claim, free []freed) (query string, args []any) {
	asks, frees := room(len(asking)), room(len(free))
	args = make([]any, 0, 4*asks+frees)
	for n := range asks {
		name := ""
		if n < len(asking) {
			name = c.name(asking[n].requestKey)
		}
		args = append(args, name, name)
	}
	for n := range frees {
		name := nobodys
		if n < len(free) {
			name = free[n].name
		}
		args = append(args, name)
	}
	for n := range asks {
		if n < len(asking) {
			args = append(args, asking[n].id, asking[n].user)
		} else {
			args = append(args, nil, nil)
		}
	}
	return claimText(asks, frees), args
}

// nobodys is the name of a lock that no session has.
const nobodys = "seckill:key:"

// room is the first power of two that holds n; 0 for none.
func room(n int) int {
	if n == 0 {
		return 0
	}
	return 1 << bits.Len(uint(n-1))
}

// claimText is the statement for so many claims and keys to give up.
//
// The locks are taken while the inner table is made, before any order is looked
// up; LIMIT keeps the server from merging that table into the rest. An order that
// appears in between is found when the purchase is refused (Undecided).
//
// The index is forced: early in a sale, statistics still say that a scan of all
// orders is cheaper.
func claimText(asks, frees int) string {
	locks := strings.Repeat(", IF(? = '', 0, COALESCE(GET_LOCK(?, 0), 0))", asks) + strings.Repeat(", COALESCE(RELEASE_LOCK(?), 0)", frees)
	mine := "FALSE"
	if asks > 0 {
		mine = "(o.request_id, o.user_id) IN ((?, ?)" + strings.Repeat(", (?, ?)", asks-1) + ")"
	}
	return "SELECT CONNECTION_ID(), k.got, o.request_id, o.user_id, o.public_id, o.sku_id, o.quantity, o.remaining, o.strategy " +
		"FROM (SELECT CONCAT(" + strings.TrimPrefix(locks, ", ") + ") AS got LIMIT 1) k " +
		"LEFT JOIN orders o FORCE INDEX (orders_request_in_run) ON " + mine +
		" AND o.run = (SELECT s.run FROM stock s WHERE s.id = o.sku_id)"
}

// begin sets up a new session. When it replaces one that broke, it claims again
// what purchases under way had claimed.
func (c *Claims) begin(ctx context.Context) error {
	if _, err := c.db.ExecContext(ctx, "SET SESSION wait_timeout = ?", int(c.idle.Seconds())); err != nil {
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
