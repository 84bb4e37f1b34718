package explore

import (
	"errors"
	"testing"
)

// A world on shared servers stays within its block of SKUs: the next one may be
// another world's.
func TestABlockOfSKUsEnds(t *testing.T) {
	w := &World{shared: true, first: 5 * SKUs}
	w.next.Store(6*SKUs - 2)
	if sku, err := w.freshNumber(); err != nil || sku/SKUs != 5 {
		t.Errorf("the last SKU is %d, %v", sku, err)
	}
	if sku, err := w.freshNumber(); !errors.Is(err, ErrUsedUp) {
		t.Errorf("after it comes %d, %v", sku, err)
	}
}
