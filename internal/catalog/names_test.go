package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"seckill/internal/catalog"
	"seckill/strategies"
)

func TestNamesThatPeopleTypeLeadToAStrategy(t *testing.T) {
	all := strategies.All()
	for typed, want := range map[string]string{
		"conditional": "conditional", "Version": "version", "for_update": "for-update", " FOR UPDATE": "for-update",
		"optimistic": "version", "乐观锁": "version", "pessimistic": "for-update", "悲观锁": "for-update",
		"redis": "redis-lua", "redis_lock": "redis-lua", "zookeeper": "zk", "ZooKeeper": "zk", "setnx": "redis-setnx", "redisson": "redis-watchdog",
		"": "", "luck": "", "版本": "",
	} {
		if i, found := catalog.Find(all, typed); i.Name != want || found != (want != "") {
			t.Errorf("%q leads to %q (%t), want %q", typed, i.Name, found, want)
		}
	}
}

// A second strategy with the same name, in another form or as another name, would be out of reach.
func TestNoNameLeadsToTwoStrategies(t *testing.T) {
	all, names, leads := strategies.All(), []string{}, map[string]string{}
	for _, i := range all {
		names = append(names, i.Name)
		for _, known := range append([]string{i.Name}, i.OtherNames()...) {
			if leads[known] != "" {
				t.Errorf("%s and %s are both called %s", leads[known], i.Name, known)
			}
			leads[known] = i.Name
			if found, _ := catalog.Find(all, known); found.Name != i.Name {
				t.Errorf("%q leads to %q, want %q", known, found.Name, i.Name)
			}
		}
	}
	for name := range catalog.OtherNames {
		if !slices.Contains(names, name) {
			t.Errorf("other names of %s, which is no strategy", name)
		}
	}
	for _, name := range catalog.SixWays {
		if !slices.Contains(names, name) {
			t.Errorf("of the six, %s is no strategy", name)
		}
	}
}

func TestAWrongNameIsAnsweredWithTheNearest(t *testing.T) {
	for wrong, want := range map[string]string{
		"conditonal": "conditional", "optimisitc": "version", "zookeper": "zk", "redislua": "redis-lua", "乐观": "version",
		"redis-loc": "redis-lua, ", "xyzzy": "", "a": "", "": "", strings.Repeat("version", 100): "",
	} {
		if said := catalog.DidYouMean(strategies.All(), wrong); want == "" && said != "" || !strings.HasPrefix(strings.TrimPrefix(said, " Did you mean "), want) {
			t.Errorf("%q is answered with %q, want %q", wrong, said, want)
		}
	}
}
