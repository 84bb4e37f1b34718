package httpapi_test

import (
	"context"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/seckill"
)

// A busy strategy works beside its buyers.
type busy struct {
	*fake
	begun, ended chan struct{}
}

func (b *busy) Work(ctx context.Context) {
	close(b.begun)
	<-ctx.Done()
	close(b.ended)
}

// What a strategy does beside its buyers goes on until the last buyer has been
// answered, and Serve returns when it is done.
func TestWorkersEndAfterTheLastBuyer(t *testing.T) {
	b := &busy{fake: sells(), begun: make(chan struct{}), ended: make(chan struct{})}
	arrived, answer := make(chan struct{}), make(chan struct{})
	sell := b.deduct
	b.deduct = func(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
		close(arrived)
		<-answer
		select {
		case <-b.ended:
			t.Error("the work ended while a buyer was there")
		default:
		}
		return sell(ctx, p)
	}
	info := b.fake.info()
	info.New = func(catalog.Deps) (seckill.Strategy, error) { return b, nil }
	r := serve(t, nil, httpapi.Config{Infos: []catalog.Info{info}, Default: fakeName})
	<-b.begun
	bought := make(chan error, 1)
	go func() {
		_, err := r.buy(t.Context(), 1)
		bought <- err
	}()
	<-arrived
	r.stop()
	close(answer)
	if err := <-bought; err != nil {
		t.Error(err)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	select {
	case <-b.ended:
	default:
		t.Error("Serve returned before the work was done")
	}
}
