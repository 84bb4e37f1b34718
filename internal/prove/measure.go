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

// These times are for measuring, in real time, the answers that depend on time.
const (
	realLease   = 2 * time.Second
	realSession = 4 * time.Second
	realWait    = 30 * time.Second
	settleTime  = 300 * time.Millisecond
)

func realSettings() catalog.Settings {
	s := catalog.DefaultSettings()
	s.LockLease, s.LockWait, s.Retries = realLease, realWait, 1000
	return s
}

// A client is a process with one strategy on it, for measurements in real time.
type client struct {
	*explore.StrategyProcess
	probes *probe.Set
}

func (t *trial) openSale(ctx context.Context) (p *client, sku int64, err error) {
	if p, err = t.openClient(ctx); err != nil {
		return nil, 0, err
	}
	if sku, err = p.newSale(ctx, 10); err != nil {
		return nil, 0, errors.Join(err, p.In.Close())
	}
	return p, sku, nil
}

func (t *trial) openClient(ctx context.Context) (*client, error) {
	config := t.config()
	config.RowLockWait, config.ZooKeeperSession, config.MaxSQLConns = realWait, realSession, 24
	p, err := explore.StartProcess(ctx, config, t.info, realSettings(), nil)
	if err != nil {
		return nil, err
	}
	if err := ledger.Migrate(ctx, p.In.DB); err != nil {
		return nil, errors.Join(err, p.In.Close())
	}
	return &client{p, probe.Of(p.In, t.info)}, nil
}

// lastMeasuredSKU is the SKU of the last measurement in any trial. Each measurement has a SKU of its own, and no
// schedule of package explore uses such a SKU.
var lastMeasuredSKU atomic.Int64

func init() { lastMeasuredSKU.Store(seckill.MeasuredSKU) }

func (p *client) newSale(ctx context.Context, stock int64) (int64, error) {
	sku := lastMeasuredSKU.Add(1)
	return sku, p.Reset(ctx, sku, "measured", stock)
}

func measuredPurchase(sku, user int64) seckill.Purchase {
	return seckill.Purchase{SKU: sku, User: user, Quantity: 1, RequestID: fmt.Sprintf("m%d-%d", sku, user)}
}
