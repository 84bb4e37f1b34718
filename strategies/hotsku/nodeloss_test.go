package hotsku

import (
	"slices"
	"testing"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/prove"
	"seckill/internal/seckill"
)

type provers struct{ *lab.Lab }

func (provers) Close() error { return nil }

// Redis loses its primary, with a sale that the stock row has not heard of. Where
// the row follows the orders in the database, it hears of it; where it follows
// messages in Redis, it does not. Without the key of the units they are sold twice.
func TestTheRowFollowsAfterANodeIsLost(t *testing.T) {
	keyless := DetailMerge
	keyless.New = func(d catalog.Deps) (seckill.Strategy, error) {
		s := newDetailMerge(d)
		s.enter = func(tx *gorm.DB, p seckill.Purchase, d dealt) (rows int64, err error) {
			rows, _, err = s.store.Exec(tx, "INSERT INTO stock_details (sku_id, run, epoch, unit, change_by, merged) "+
				"SELECT sku_id, run, epoch, ?, ?, 0 FROM stock_epochs WHERE sku_id = ? AND run = ? AND epoch = ? "+
				"ON DUPLICATE KEY UPDATE change_by = stock_details.change_by + VALUES(change_by), merged = 0",
				d.first(p), -p.Quantity, p.SKU, d.run, d.epoch)
			return rows, err
		}
		return s, nil
	}
	for _, c := range []struct {
		name string
		info catalog.Info
		rule string // that is broken; "": none
	}{
		{"detail-merge", DetailMerge, ""},
		{"detail-merge without the key of the units", keyless, ledger.RuleOversold},
		{"half-message", HalfMessage, ledger.RuleLostUpdate},
		{"half-message-hasty", HalfMessageHasty, ledger.RuleLostUpdate},
	} {
		t.Run(c.name, func(t *testing.T) {
			on := provers{labtest.Start(t, c.info.Needs...)}
			told, err := prove.LoseNode(t.Context(), c.info, on)
			if err != nil {
				t.Fatal(err)
			}
			broke := slices.ContainsFunc(told.Problems, func(p explore.Problem) bool { return p.Rule == c.rule })
			if broke != (c.rule != "") || c.rule == "" && len(told.Problems) > 0 {
				t.Errorf("problems %+v, want %q", told.Problems, c.rule)
			}
		})
	}
}
