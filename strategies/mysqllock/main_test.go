package mysqllock

import (
	"context"
	"os"
	"testing"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock/locktest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

var lockInfos = []catalog.Info{LockInsertPlain, LockInsertByName, LockInsert, LockRow, LockTableV1, LockTableCentral,
	LockTableSegmented, GetLock}

// A bench is a lock on an instance of its own.
type bench struct{ *locktest.Process }

var testSettings = catalog.Settings{LockTimes: catalog.LockTimes{LockWait: 3 * time.Second, LockLease: time.Minute, LockPoll: 2 * time.Millisecond}}

func newBench(t *testing.T, info catalog.Info, change ...func(*catalog.Deps)) *bench {
	t.Helper()
	b := &bench{}
	d := catalog.Deps{Settings: testSettings}
	for _, c := range change {
		c(&d)
	}
	b.Process = locktest.Open(t, info, d)
	return b
}

// exec runs a statement on the side of the database's operator.
func (b *bench) exec(t *testing.T, statement string, args ...any) int64 {
	t.Helper()
	res := b.In.DB.WithContext(context.Background()).Exec(statement, args...)
	if res.Error != nil {
		t.Fatal(res.Error)
	}
	return res.RowsAffected
}

func (b *bench) ask(t *testing.T, query string, args ...any) (answer int64) {
	t.Helper()
	labtest.Must(t, b.In.DB.WithContext(context.Background()).Raw(query, args...).Scan(&answer).Error)
	return answer
}
