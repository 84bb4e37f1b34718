package strategies_test

import (
	"database/sql"
	"slices"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/strategies/sqlrow"
)

// A database acknowledges a COMMIT before its replica has it. While replication
// stands still, a check that reads at the replica finds units that are sold, and no
// order of a request that has one. When the replica takes over, the acknowledged
// orders are lost, and the judge says so. A second failover goes back to the first server.
func TestAReplicaTakesOver(t *testing.T) {
	l := labtest.Own(t, lab.Replica, backend.NameMySQL)
	two := openTwo(t, l.Config())
	e, err := l.Ensemble(t.Context(), backend.NameMySQL)
	if err != nil {
		t.Fatal(err)
	}
	skus := []int64{98_101}
	if labtest.Verify {
		skus = append(skus, 98_102)
	}
	for round, sku := range skus {
		f := &forgetting{harness: newHarness(t, sqlrow.Conditional, two, brief, sku)}
		f.reset(t, 5)
		for user := range int64(2) {
			f.sell(t, user+1)
		}
		failover, err := l.Inject(t.Context(), fault.FailoverMySQL, fault.Aim{})
		if err != nil {
			t.Fatal(err)
		}
		for user := range int64(3) {
			f.sell(t, user+10)
		}
		behind := atReplica(t, e)
		here, err := ledger.NewStore(two[0].DB).SKU(t.Context(), sku)
		if err != nil || here.Num != 0 {
			t.Fatalf("the primary has %d units left, %v; want 0", here.Num, err)
		}
		var left, orders int64
		if err := behind.QueryRowContext(t.Context(), "SELECT num, (SELECT COUNT(*) FROM seckill.orders WHERE request_id = ?) FROM seckill.stock WHERE id = ?",
			f.purchase(10, 1).RequestID, sku).Scan(&left, &orders); err != nil || left != 3 || orders != 0 {
			t.Errorf("the replica says that %d units are left, and %d orders of a request that has one, %v; want 3 and 0", left, orders, err)
		}
		if _, err := behind.ExecContext(t.Context(), "UPDATE seckill.stock SET num = num"); errorNumber(err) != 1290 {
			t.Errorf("a write at the replica: %v, want that it is read-only", err)
		}
		effect, err := failover.Undo(t.Context())
		if err != nil || !effect.Took {
			t.Fatalf("failover %d came to %+v, %v", round+1, effect, err)
		}
		f.judged(t, 5, true, ledger.RuleMissingOrder)
		f.sell(t, 20) // three units are there again
		if last := f.heard[len(f.heard)-1]; !sold(last) {
			t.Errorf("after failover %d a buyer was told %+v, want that they buy", round+1, last)
		}
	}
}

// atReplica is a connection to the server that the door does not lead to.
func atReplica(t *testing.T, e *lab.Ensemble) *sql.DB {
	t.Helper()
	primary, err := e.Node(t.Context(), lab.Primary)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(e.Nodes, func(p *lab.Process) bool { return p != primary })
	db, err := sql.Open("mysql", e.Nodes[i].Login())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
