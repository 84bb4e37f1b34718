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

// segmentRow returns the name of a key's central row: center_lock_00 to
// center_lock_99. Its number is the key's CRC-32 (IEEE) modulo 100, as in the
// published article B.
func segmentRow(key string) string {
	return fmt.Sprintf("%s_%02d", centralRow,
		crc32.ChecksumIEEE([]byte(key))%segmentCount)
}

// lockCentralRow locks a central row until the transaction ends. It must be
// the transaction's first command, because an earlier read would fix an old
// snapshot.
func lockCentralRow(tx *gorm.DB, row string) error {
	var name string
	res := tx.Raw("SELECT name FROM lock_central "+
		"WHERE name = ? FOR UPDATE", row).Scan(&name)
	if res.Error == nil && res.RowsAffected == 0 {
		return fmt.Errorf("table lock_central has no row %s: "+
			"restart the service, which creates it", row)
	}
	return res.Error
}

// createCentralTables creates the tables and the central rows. It counts the
// rows first, because an INSERT of a row that exists would wait for a buyer
// who has locked this row.
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
		var found int
		err := db.WithContext(ctx).
			Raw("SELECT COUNT(*) FROM lock_central").Scan(&found).Error
		if err != nil || found >= len(rows) {
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
