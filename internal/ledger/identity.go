package ledger

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Every database draws an identity once. What strategies keep elsewhere (a
// number in Redis) carries it: runs of different databases have equal numbers.
// A copy of a database has the identity of the original.
//
// The table also says which schema the other tables have. It is written before
// they are made: where there is a stock, and no word of its schema, another build
// made it.
const identityTable = `CREATE TABLE IF NOT EXISTS seckill_identity (
	one      INTEGER     NOT NULL PRIMARY KEY,
	id       VARCHAR(64) NOT NULL,
	made_for VARCHAR(64) NOT NULL
)`

// ErrOtherBuild is Migrate's answer to a database that it will not touch.
var ErrOtherBuild = errors.New("this database has the tables of another build of seckill")

// writeIdentity draws the database's identity if it has none, and refuses tables
// of another schema.
func writeIdentity(db *gorm.DB, schema []string) error {
	made := db.Migrator().HasTable("stock")
	if err := db.Exec(identityTable).Error; err != nil {
		return fmt.Errorf("create the table seckill_identity: %w (may this database user create tables?)", err)
	}
	ours := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(schema, ";"))))
	if !made {
		if err := db.Exec(insertIgnore(db)+" INTO seckill_identity (one, id, made_for) VALUES (1, ?, ?)", rand.Text(), ours).Error; err != nil {
			return fmt.Errorf("write the database's identity: %w (may this database user insert?)", err)
		}
	}
	var found struct{ MadeFor string }
	if err := db.Raw("SELECT * FROM seckill_identity WHERE one = 1").Scan(&found).Error; err != nil {
		return fmt.Errorf("read the database's identity: %w", err)
	}
	if found.MadeFor == ours {
		return nil
	}
	if db.Name() == "sqlite" {
		return fmt.Errorf("%w: remove the file, or name another", ErrOtherBuild)
	}
	name := db.Migrator().CurrentDatabase()
	return fmt.Errorf("%w: drop it (DROP DATABASE `%s`; CREATE DATABASE `%[2]s`), or name another", ErrOtherBuild, name)
}

// Identity names the database, for ever: a word without spaces. It is read
// once a Store, and passes no Tap: it belongs to no purchase.
func (s *Store) Identity(ctx context.Context) (string, error) {
	if id := s.identity.Load(); id != nil {
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
	s.identity.Store(&id)
	return id, nil
}
