package prove

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/ledger"
	"seckill/internal/probe"
	"seckill/internal/seckill"
)

// What depends on time is measured with short leases, in real time.
const (
	realLease   = 2 * time.Second
	realSession = 4 * time.Second
	realWait    = 30 * time.Second
	settling    = 300 * time.Millisecond
)

func realSettings() catalog.Settings {
	s := catalog.DefaultSettings()
	s.LockLease, s.LockWait, s.Retries = realLease, realWait, 1000
	return s
}

// A party is one process of a strategy in real time.
type party struct {
	*explore.StrategyProcess
	probes *probe.Set
}

// opened is a party whose sale of ten units has begun.
func (b *bench) opened(ctx context.Context) (p *party, sku int64, err error) {
	if p, err = b.party(ctx); err != nil {
		return nil, 0, err
	}
	if sku, err = p.sale(ctx, 10); err != nil {
		return nil, 0, errors.Join(err, p.In.Close())
	}
	return p, sku, nil
}

func (b *bench) party(ctx context.Context) (*party, error) {
	config := b.servers.Config().Only(b.info.Uses()...)
	config.RowLockWait, config.ZooKeeperSession, config.MaxSQLConns = realWait, realSession, 24
	p, err := explore.StartProcess(ctx, config, b.info, realSettings(), nil)
	if err != nil {
		return nil, err
	}
	if err := ledger.Migrate(ctx, p.In.DB); err != nil {
		return nil, errors.Join(err, p.In.Close())
	}
	return &party{p, probe.Of(p.In, b.info)}, nil
}

// lastMeasuredSKU: every measurement has a SKU of its own, in any bench, beside
// those that are explored.
var lastMeasuredSKU atomic.Int64

func init() { lastMeasuredSKU.Store(6_000_000_000) }

// sale makes a SKU for one measurement.
func (p *party) sale(ctx context.Context, stock int64) (sku int64, err error) {
	sku = lastMeasuredSKU.Add(1)
	return sku, p.Reset(ctx, sku, "measured", stock)
}

func buy(sku, user int64) seckill.Purchase {
	return seckill.Purchase{SKU: sku, User: user, Quantity: 1, RequestID: fmt.Sprintf("m%d-%d", sku, user)}
}
