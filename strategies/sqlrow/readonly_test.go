package sqlrow

import (
	"context"
	"errors"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/catalog/saletest"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap/taptest"
)

// A server that turns read-only, as the old primary of a failover does, sells
// nothing, and the pool leaves it: the next connection may lead to the new one.
func TestServerThatTurnsReadOnly(t *testing.T) {
	l, err := lab.Start(t.Context(), lab.Options{Host: labtest.Host(), Backends: []string{backend.NameMySQL}})
	labtest.Must(t, err)
	defer l.Stop(context.Background())
	admin := labtest.Admin(t, l)
	readOnly := func(value string) {
		if _, err := admin.Exec("SET GLOBAL read_only = " + value); err != nil {
			t.Error(err)
		}
	}

	c := l.Config()
	c.MaxSQLConns = 1 // of which it is seen when it is another
	in := labtest.Open(t, c)
	connection := func() (id int64) {
		if err := in.DB.Raw("SELECT CONNECTION_ID()").Scan(&id).Error; err != nil {
			t.Error(err)
		}
		return id
	}
	for _, info := range []catalog.Info{Conditional, ForUpdate, Atomic} {
		s := saletest.Open(t, info, 10, catalog.Deps{Instance: in})
		_, err := s.Buy(t.Context(), 1, 1)
		labtest.Must(t, err)
		first := connection()
		readOnly("1")
		if _, err := s.Buy(t.Context(), 2, 1); !errors.Is(err, seckill.ErrUnavailable) {
			t.Errorf("%s on a server that is read-only: %v, want unavailable", info.Name, err)
		}
		if second := connection(); second == first {
			t.Errorf("%s: the pool keeps the connection to a server that is read-only", info.Name)
		}
		readOnly("0")
		if _, err := s.Buy(t.Context(), 3, 1); err != nil {
			t.Errorf("%s: sales do not go on when it can be written again: %v", info.Name, err)
		}

		// It turns when everything is written but the COMMIT.
		_, err = s.Buy(taptest.Before(t.Context(), "COMMIT", func() { readOnly("1") }), 4, 1)
		readOnly("0")
		if !errors.Is(err, seckill.ErrUnavailable) {
			t.Errorf("%s, read-only at COMMIT: %v, want unavailable", info.Name, err)
		}
		if _, err := s.Buy(t.Context(), 5, 1); err != nil {
			t.Error(err)
		}
		if r := s.Judge(t); r.Verdict != ledger.Held {
			t.Errorf("%s: %+v, want every refusal true", info.Name, r)
		}
		if left, err := s.Store.SKU(t.Context(), s.SKU); err != nil || left.Num != 7 {
			t.Errorf("%s: %d of 10 are left after three sales, %v", info.Name, left.Num, err)
		}
	}
}
