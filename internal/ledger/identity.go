package ledger

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"

	"gorm.io/gorm"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Every database draws an identity once. What strategies keep elsewhere (a
// number in Redis) carries it: runs of different databases have equal numbers.
// A copy of a database has the identity of the original.
var identityTable = []string{
	`CREATE TABLE IF NOT EXISTS seckill_identity (
	one INTEGER     NOT NULL PRIMARY KEY,
	id  VARCHAR(64) NOT NULL
)`,
}

func migrateIdentity(ctx context.Context, db *gorm.DB) error {
	for _, statement := range identityTable {
		if err := db.WithContext(ctx).Exec(statement).Error; err != nil {
			return fmt.Errorf("create the table seckill_identity: %w (may this database user create tables?)", err)
		}
	}
	insert := "INSERT IGNORE"
	if db.Name() == "sqlite" {
		insert = "INSERT OR IGNORE"
	}
	err := db.WithContext(ctx).Exec(insert+" INTO seckill_identity (one, id) VALUES (1, ?)", rand.Text()).Error
	if err != nil {
		return fmt.Errorf("write the database's identity: %w (may this database user insert?)", err)
	}
	return nil
}

// identity is what a Store has read of its database.
type identity struct{ id atomic.Pointer[string] }

// Identity names the database, for ever: a word without spaces. It is read
// once a Store, and passes no Tap: it belongs to no purchase.
func (s *Store) Identity(ctx context.Context) (string, error) {
	if id := s.identity.id.Load(); id != nil {
		return *id, nil
	}
	var id string
	err := s.Read(tap.With(ctx, nil), &id, "SELECT id FROM seckill_identity WHERE one = 1")
	if errors.Is(err, seckill.ErrUnknownSKU) {
		return "", fmt.Errorf("%w: the table seckill_identity is empty: start the service again", seckill.ErrUnavailable)
	}
	if err != nil {
		return "", err
	}
	s.identity.id.Store(&id)
	return id, nil
}
