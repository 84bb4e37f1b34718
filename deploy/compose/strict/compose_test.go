// Package strict loads the compose files as docker compose does: against the schema of
// the specification, with the overrides merged. It is a module of its own, so that no
// user of the program loads the library.
package strict

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

const base = "../../../docker-compose.yml"

func load(t *testing.T, files ...string) (*types.Project, error) {
	t.Helper()
	o, err := cli.NewProjectOptions(append([]string{base}, files...), cli.WithProfiles([]string{"load"}))
	if err != nil {
		t.Fatal(err)
	}
	return o.LoadProject(t.Context())
}

// topologies are the overrides, and the variable by which services reach each.
var topologies = map[string]string{
	"cluster": "SECKILL_REDIS_ADDRS", "sentinel": "SECKILL_REDIS_SENTINELS", "ring": "SECKILL_REDIS_RING",
	"galera": "SECKILL_MYSQL_DSN", "ensemble": "SECKILL_ETCD_ENDPOINTS",
}

var server = regexp.MustCompile(`([a-z0-9-]+):\d+`)

// Every file is valid beside the base, and every server that a service is given is one
// of the project, to which it waits to be healthy.
func TestProjectsAreWhole(t *testing.T) {
	files, err := filepath.Glob("../*.yaml")
	if err != nil || len(files) != len(topologies) {
		t.Fatalf("%v, %v; %d are known", files, err, len(topologies))
	}
	names := append(slices.Sorted(maps.Keys(topologies)), "")
	for _, name := range names {
		t.Run("topology "+name, func(t *testing.T) {
			var more []string
			if name != "" {
				more = []string{"../" + name + ".yaml"}
			}
			p, err := load(t, more...)
			if err != nil {
				t.Fatal(err)
			}
			for _, of := range []string{"seckill-1", "seckill-2", "load"} {
				check(t, p, of)
			}
			variable, environment := topologies[name], p.Services["seckill-1"].Environment
			if variable != "" && (environment[variable] == nil || *environment[variable] == "") {
				t.Errorf("services have no %s", variable)
			}
			given := 0
			for _, v := range []string{"SECKILL_REDIS_ADDRS", "SECKILL_REDIS_SENTINELS", "SECKILL_REDIS_RING"} {
				if environment[v] != nil {
					given++
				}
			}
			if given != 1 {
				t.Errorf("services have %d ways to Redis", given)
			}
		})
	}
}

func check(t *testing.T, p *types.Project, of string) {
	t.Helper()
	for name, value := range p.Services[of].Environment {
		if value == nil || !strings.HasPrefix(name, "SECKILL_") {
			continue
		}
		for _, found := range server.FindAllStringSubmatch(*value, -1) {
			s, there := p.Services[found[1]]
			if !there {
				t.Errorf("%s: %s names %s, which is no service", of, name, found[1])
			} else if s.HealthCheck == nil {
				t.Errorf("%s, which %s uses, has no health check", found[1], of)
			}
		}
	}
}

// Galera's services write to different nodes, and members of an ensemble have numbers
// of their own.
func TestMembersDiffer(t *testing.T) {
	for name, variable := range map[string]string{"galera": "SECKILL_MYSQL_DSN"} {
		p, err := load(t, "../"+name+".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if a, b := p.Services["seckill-1"].Environment[variable], p.Services["seckill-2"].Environment[variable]; *a == *b {
			t.Errorf("both services of %s write to %s", name, *a)
		}
	}
	p, err := load(t, "../ensemble.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range []string{"zookeeper", "zookeeper-2", "zookeeper-3"} {
		e := p.Services[name].Environment
		seen[*e["ZOO_MY_ID"]] = true
		if want := "server." + *e["ZOO_MY_ID"] + "=" + name + ":"; !strings.Contains(*e["ZOO_SERVERS"], want) {
			t.Errorf("%s is not %s in %s", name, want, *e["ZOO_SERVERS"])
		}
	}
	if len(seen) != 3 {
		t.Errorf("numbers of ZooKeeper: %v", seen)
	}
}

// What is mistyped is refused.
func TestMistypedIsRefused(t *testing.T) {
	text, err := os.ReadFile("../ring.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{strings.Replace(string(text), "healthcheck:", "healthcheks:", 1),
		strings.Replace(string(text), "redis-3: {condition", "redis-4: {condition", 1)} {
		file := filepath.Join(t.TempDir(), "wrong.yaml")
		if err := os.WriteFile(file, []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := load(t, file); err == nil {
			t.Error("what is mistyped is loaded")
		}
	}
}
