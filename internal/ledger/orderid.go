package ledger

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	mathrand "math/rand/v2"
	"strings"
	"sync/atomic"
	"time"
)

// An order's id is a time in microseconds with nodeBits random bits behind it.
// In one process every id is later than the one before. Two processes can make
// the same id in the same microsecond; the primary key then refuses the second,
// and Record tries another one.
const nodeBits = 10

var lastTick atomic.Int64

func newOrderID() int64 {
	now := time.Now().UnixMicro()
	for {
		last := lastTick.Load()
		tick := max(now, last+1)
		if lastTick.CompareAndSwap(last, tick) {
			return tick<<nodeBits | mathrand.Int64N(1<<nodeBits)
		}
	}
}

// A public id is publicPrefix and, in base 32: the order's id, a tag of random
// bytes, and the SKU. Id and SKU find the row; the tag keeps others from
// guessing the ids of orders.
const (
	publicPrefix = "o"
	idBytes      = 8
	tagBytes     = 8
)

var publicText = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

func newPublicID(sku, id int64) string {
	var raw [idBytes + tagBytes + binary.MaxVarintLen64]byte
	binary.BigEndian.PutUint64(raw[:], uint64(id))
	_, _ = rand.Read(raw[idBytes : idBytes+tagBytes]) // never fails
	n := binary.PutUvarint(raw[idBytes+tagBytes:], uint64(sku))
	return publicPrefix + publicText.EncodeToString(raw[:idBytes+tagBytes+n])
}

// parsePublicID is the SKU and the id in a public id; ok is false for a text that
// is none.
func parsePublicID(text string) (sku, id int64, ok bool) {
	coded, ok := strings.CutPrefix(text, publicPrefix)
	if !ok {
		return 0, 0, false
	}
	raw, err := publicText.DecodeString(coded)
	if err != nil || len(raw) <= idBytes+tagBytes {
		return 0, 0, false
	}
	of, n := binary.Uvarint(raw[idBytes+tagBytes:])
	if n != len(raw)-idBytes-tagBytes {
		return 0, 0, false
	}
	return int64(of), int64(binary.BigEndian.Uint64(raw)), true
}
