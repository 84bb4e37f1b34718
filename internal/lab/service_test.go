package lab_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

func TestServiceProcesses(t *testing.T) {
	t.Setenv("SECKILL_ETCD_ENDPOINTS", "stray:1") // not the lab's
	t.Setenv("SECKILL_STRATEGY", "version")       // a setting
	l := started(t, lab.Options{Token: "t",
		Backends: []string{backend.NameRedis, backend.NameRedlock}})
	for range 2 { // more can join later
		must(t, "start services", l.StartServices(t.Context(), 1))
	}
	services := l.Services()
	if len(services) != 2 || services[0].Name != "service-1" || services[1].Name != "service-2" || services[0].URL == services[1].URL {
		t.Fatalf("services %+v, want two", services)
	}
	c := l.Config()
	environment := "\n" + get(t, services[1].URL+"/environment") + "\n"
	for _, want := range []string{
		"SECKILL_REDIS_ADDRS=" + c.RedisAddrs[0],
		"SECKILL_REDLOCK_ADDRS=" + strings.Join(c.RedlockAddrs, ","),
		"SECKILL_TIERS=redis=private,redlock=private",
		"SECKILL_STRATEGY=version", "SECKILL_TOKEN=t",
	} {
		if !strings.Contains(environment, "\n"+want+"\n") {
			t.Errorf("a service's environment lacks %s", want)
		}
	}
	if strings.Contains(environment, "SECKILL_ETCD_ENDPOINTS") {
		t.Error("a service's environment has what is not the lab's")
	}

	p, err := l.Process("service-1")
	must(t, "process", err)
	must(t, "terminate", p.Terminate(t.Context()))
	if text, _ := os.ReadFile(p.Log); !strings.Contains(string(text), "finished the purchases in flight") {
		t.Errorf("a service that was asked to end was killed; its log: %s", text)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	must(t, "get", err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, "read all", err)
	return string(text)
}
