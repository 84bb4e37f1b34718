package labtest

import (
	"os"
	"strings"
	"testing"

	"seckill/internal/backend"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestWhatIsMissingFails(t *testing.T) {
	for want, s := range map[string]backend.Status{
		"":                   {Name: backend.NameRedis, Tier: backend.Private, OK: true},
		"run: seckill deps":  {Name: backend.NameRedis, Error: "not found"},
		"needs a real redis": {Name: backend.NameRedis, Tier: backend.Embedded, OK: true},
	} {
		got := lacking([]string{backend.NameRedis}, []backend.Status{{Name: backend.NameEtcd}, s})
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%+v: said %q, want %q", s, got, want)
		}
	}
}

func TestInstanceHasWhatIsNeededAlone(t *testing.T) {
	in := Instance(t, backend.Redis)
	if in.Redis == nil || in.DB != nil || in.ZooKeeper != nil || in.Etcd != nil {
		t.Errorf("%+v: want Redis alone", in.Config)
	}
}

func TestOwnDatabase(t *testing.T) {
	own, drop, err := ownDatabase("root:secret@tcp(127.0.0.1:1)/theirs")
	if err != nil {
		t.Fatal(err)
	}
	drop() // nobody listens there; that is not this test program's end
	if strings.Contains(own, "theirs") || !strings.Contains(own, "root:secret@tcp(127.0.0.1:1)/seckill_test_") {
		t.Errorf("got %s, want a database of our own on the same server", own)
	}
}
