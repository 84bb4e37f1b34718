package ledger

// The tables of InSlots. A sale's units are the slots 1 to stock.initial of its
// run. Nothing is written before the first sale: a run without a row in either
// table has all its slots free.
//
//   - slot_sold has a row for each slot that is sold. Its primary key is what
//     makes sure that none is sold twice: claim is 0, except for a strategy that
//     is broken on purpose.
//   - slot_lease has the stretches of slots in which some may not be sold:
//     free ones (ends_at is NULL) and those that a process has leased, until
//     ends_at by the database's clock. It is written with the stock row locked.
var slotSchema = []string{
	`CREATE TABLE IF NOT EXISTS slot_sold (
	sku_id   BIGINT NOT NULL,
	run      BIGINT NOT NULL,
	slot     BIGINT NOT NULL,
	claim    BIGINT NOT NULL,
	order_id BIGINT NOT NULL,
	PRIMARY KEY (sku_id, run, slot, claim),
	KEY slot_sold_order (sku_id, run, order_id)
) ENGINE=InnoDB`,
	`CREATE TABLE IF NOT EXISTS slot_lease (
	sku_id     BIGINT NOT NULL,
	run        BIGINT NOT NULL,
	id         BIGINT NOT NULL,
	first_slot BIGINT NOT NULL,
	last_slot  BIGINT NOT NULL,
	holder     VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	ends_at    DATETIME(6) NULL,
	PRIMARY KEY (sku_id, run, id)
) ENGINE=InnoDB`,
}
