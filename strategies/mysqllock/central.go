package mysqllock

import (
	"context"
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"gorm.io/gorm"
)

const (
	centralRow   = "center_lock"
	segmentCount = 100
)

// segment names the central row of a key: center_lock_00 to center_lock_99.
// It is the last two digits of the key's CRC-32 (IEEE), as in B.
func segmentRow(key string) string {
	return fmt.Sprintf("%s_%02d", centralRow,
		crc32.ChecksumIEEE([]byte(key))%segmentCount)
}

// passCentral locks a central row until the transaction ends. It comes first.
func lockCentralRow(tx *gorm.DB, row string) error {
	var name string
	res := tx.Raw("SELECT name FROM lock_central "+
		"WHERE name = ? FOR UPDATE", row).Scan(&name)
	if res.Error == nil && res.RowsAffected == 0 {
		return fmt.Errorf("the row %s of lock_central is gone: start the "+
			"service again, which makes it", row)
	}
	return res.Error
}

// createCentral makes B's tables and the central rows. It looks first: to
// insert a row that is there waits for its lock.
func createCentralTables(db *gorm.DB) error {
	if err := createTables(db, lockRecordTable, lockCentralTable); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	rows := []any{centralRow}
	for n := range segmentCount {
		rows = append(rows, fmt.Sprintf("%s_%02d", centralRow, n))
	}
	for {
		var there int
		err := db.WithContext(ctx).
			Raw("SELECT COUNT(*) FROM lock_central").Scan(&there).Error
		if err != nil || there >= len(rows) {
			return err
		}
		err = db.WithContext(ctx).Exec("INSERT IGNORE INTO lock_central "+
			"(name) VALUES (?)"+strings.Repeat(", (?)", segmentCount),
			rows...).Error
		if !isUndone(err) && !isRowHeld(err) {
			return err
		}
	}
}
