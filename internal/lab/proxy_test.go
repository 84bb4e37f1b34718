package lab_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"seckill/internal/lab"
)

// A proxy forwards to the service that is there, and the one that is gone does not
// cost a request.
func TestProxy(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Header.Get("X-Forwarded-For"))
	}))
	defer service.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	l := ownLab(t, []string{}...) // no server
	p, err := l.StartProxy(t.Context(), []string{gone.Listener.Addr().String(), service.Listener.Addr().String()})
	must(t, "start HAProxy", err)
	for range 20 {
		answer, err := http.Post("http://"+p.Addr, "text/plain", strings.NewReader("x"))
		must(t, "ask through the proxy", err)
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK || string(text) != "127.0.0.1" {
			t.Fatalf("%s %q", answer.Status, text)
		}
	}
	if used, known := l.ServersTime(); known {
		t.Errorf("a proxy is no server of a service: %s", used)
	}
}

// What is deployed is what is tested.
func TestDeployedProxy(t *testing.T) {
	const file = "../../deploy/haproxy/haproxy.cfg"
	got, err := os.ReadFile(file)
	must(t, "read "+file, err)
	if want := lab.ProxyConfig(":8080", []string{"seckill-1:8080", "seckill-2:8080"}); string(got) != want {
		t.Errorf("%s is not what the lab runs; it should be:\n%s", file, want)
	}
}
