package ledger

// detailSchema is the stock of InDetails. MySQL and MariaDB only, as it needs SKIP
// LOCKED.
//
//   - stock_epochs has one row for each SKU: how many units a counter elsewhere
//     may deal out, by numbers from 1, and in which epoch. A change locks it exclusively,
//     a sale in share mode to the end of its transaction.
//   - stock_details has a row for each unit that was sold in an epoch: its primary
//     key makes sure that none is sold twice. change_by is what the stock row has
//     to follow by, and stands once for an order, in the row of its first unit.
//     merged is 1 once the stock row has followed, and in rows without a change.
//     Epoch 0 has the cancellations, by the order's id: each is there once.
var detailSchema = []string{
	`CREATE TABLE IF NOT EXISTS stock_epochs (
	sku_id BIGINT NOT NULL PRIMARY KEY,
	run    BIGINT NOT NULL,
	epoch  BIGINT NOT NULL,
	units  BIGINT NOT NULL
) ENGINE=InnoDB`,
	`CREATE TABLE IF NOT EXISTS stock_details (
	sku_id    BIGINT  NOT NULL,
	run       BIGINT  NOT NULL,
	epoch     BIGINT  NOT NULL,
	unit      BIGINT  NOT NULL,
	change_by BIGINT  NOT NULL,
	merged    TINYINT NOT NULL,
	PRIMARY KEY (sku_id, run, epoch, unit),
	KEY stock_details_open (sku_id, run, merged, epoch, unit)
) ENGINE=InnoDB`,
}
