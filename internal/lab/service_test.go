package lab_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

func TestServiceProcesses(t *testing.T) {
	t.Setenv("SECKILL_ETCD_ENDPOINTS", "stray:1") // not the lab's
	t.Setenv("SECKILL_STRATEGY", "version")       // a setting
	l, err := lab.Start(t.Context(), lab.Options{Host: labtest.Host(), Folder: labtest.Folder(t), Token: "t",
		Backends: []string{backend.NameRedis, backend.NameRedlock}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Stop(context.Background())
	for range 2 { // more can join later
		if err := l.StartServices(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
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
	if strings.Contains(environment, "SECKILL_ETCD_ENDPOINTS") || strings.Contains(environment, "SECKILL_LAB_KEEPER") {
		t.Error("a service's environment has what is not the lab's")
	}

	p, err := l.Process("service-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := l.Services()[0]; s.Up || !strings.Contains(s.Error, p.Log) {
		t.Errorf("%+v after it was killed: want it down, with its log", s)
	}
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := l.Services()[0]; !s.Up || s.URL != services[0].URL {
		t.Errorf("%+v after its restart: want it up at %s", s, services[0].URL)
	}
	if err := p.Terminate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(p.Log); !strings.Contains(string(text), "finished the purchases in flight") {
		t.Errorf("a service that was asked to end was killed; its log: %s", text)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
