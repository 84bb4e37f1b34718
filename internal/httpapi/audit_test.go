package httpapi

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"seckill/internal/judge"
	"seckill/internal/seckill"
)

// Callers who ask for an audit of one SKU at the same time share one audit. No caller gets the
// report of an audit that had begun to read before the call, because it may have missed what the
// caller bought. If a caller leaves, the audit goes on. Audits of other SKUs do not wait.
func TestAuditsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := audits{}
		reads, goOn := 0, make(chan struct{})
		var mu sync.Mutex
		answers := map[string]string{}
		ask := func(ctx context.Context, who string, sku int64) {
			go func() {
				r, err := a.share(ctx, sku, func(ctx context.Context) (judge.Report, error) {
					reads++ // needs no mutex: only one audit reads at a time
					n := reads
					<-goOn
					return judge.Report{Totals: judge.Totals{Orders: n}}, ctx.Err()
				})
				mu.Lock()
				defer mu.Unlock()
				answers[who] = fmt.Sprintf("read %d", r.Orders)
				if errors.Is(err, seckill.ErrBusy) && errors.Is(err, context.Canceled) {
					answers[who] = "nothing"
				}
			}()
			synctest.Wait() // the audit reads, or waits for another one
		}
		leaving, leave := context.WithCancel(t.Context())
		ask(t.Context(), "first", 1)
		ask(leaving, "second", 1)
		ask(t.Context(), "third", 1)
		ask(t.Context(), "fourth", 1)
		ask(t.Context(), "of another SKU", 2)
		leave()
		synctest.Wait()
		close(goOn)
		synctest.Wait()
		ask(t.Context(), "afterwards", 1)
		for who, want := range map[string]string{"first": "read 1", "second": "nothing", "third": "read 3",
			"fourth": "read 3", "of another SKU": "read 2", "afterwards": "read 4"} {
			if answers[who] != want {
				t.Errorf("the caller %s heard %q, want %q", who, answers[who], want)
			}
		}
	})
}
