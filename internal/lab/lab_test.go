package lab_test

import (
	"os"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

func TestEverythingStarts(t *testing.T) {
	l := labtest.Start(t, backend.SQL, backend.Redis, backend.RedisQuorum, backend.ZooKeeper, backend.Etcd)
	for _, s := range l.Backends() {
		t.Log(s.Name, s.Tier, s.Address, s.Version)
	}
}
