package linear

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// Sales that do not say which units they took are judged as porcupine judges
// them, which tries every order.
func TestSalesInAnyOrder(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	said := map[bool]int{}
	for range 3000 {
		initial := rng.Int64N(6)
		ops := Saw(random(rng, initial))
		want := porcupine.CheckOperations(Model(initial), Operations(ops))
		got := Check(initial, ops, time.Second)
		if said[want]++; got.Linearizable != want || !got.Decided || want != (got.Why == "") {
			t.Fatalf("seed %d: of %d units, %+v: %+v, want %t", seed, initial, ops, got, want)
		}
	}
	if said[true] < 100 || said[false] < 100 {
		t.Errorf("seed %d: %v: too few of a kind to mean anything", seed, said)
	}
}
