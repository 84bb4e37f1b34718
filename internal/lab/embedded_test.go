package lab_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

// On a machine without any server there are the embedded engines, and reasons.
func TestEmbeddedTier(t *testing.T) {
	for name, o := range map[string]lab.Options{
		"nothing installed": {Programs: map[lab.Tool]lab.Program{}},
		"asked for":         {Embedded: true},
	} {
		t.Run(name, func(t *testing.T) {
			o.Host = labtest.HostIn(t)
			l, err := lab.Start(t.Context(), o)
			must(t, "start", err)
			defer l.Stop(context.Background())
			embedded := map[string]string{backend.NameMySQL: "SQLite 3", backend.NameRedis: "miniredis"}
			for _, s := range l.Backends() {
				version, there := embedded[s.Name]
				switch {
				case s.OK != there:
					t.Errorf("%+v: OK should be %v", s, there)
				case there && (s.Tier != backend.Embedded || !strings.HasPrefix(s.Version, version)):
					t.Errorf("%+v: want it embedded, %s", s, version)
				case !there && s.Error == "":
					t.Errorf("%+v: want a reason", s)
				}
			}
			in, err := backend.Open(t.Context(), l.Config())
			must(t, "open", err)
			defer in.Close()
			if in.Tier(backend.NameMySQL) != backend.Embedded || in.Tier(backend.NameRedis) != backend.Embedded {
				t.Errorf("tiers %v, want both embedded", in.Config.Tiers)
			}
			if ok, _ := in.Config.Has(backend.RedisQuorum); ok {
				t.Error("one miniredis passes for five independent nodes")
			}
			begun := time.Now() // miniredis alone never lets a lease end
			must(t, "set", in.Redis.Set(t.Context(), "lease", "held", 200*time.Millisecond).Err())
			labtest.Soon(t, "the end of a lease of 200 ms", func() bool { return in.Redis.Exists(t.Context(), "lease").Val() == 0 })
			if lived := time.Since(begun); lived < 150*time.Millisecond {
				t.Errorf("a lease of 200 ms lived for %v", lived)
			}
		})
	}
}
