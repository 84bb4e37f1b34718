package labapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/explore"
)

func TestTraces(t *testing.T) {
	under, made := make(chan bool, 9), make(chan error)
	_, h, load := start(t, func(c *Config) {
		c.Trace = func(_ context.Context, i catalog.Info, buyers int) (*explore.Trace, error) {
			under <- true
			if err := <-made; err != nil {
				return nil, err
			}
			return &explore.Trace{Strategy: i.Name, Steps: make([]explore.SentCommand, buyers)}, nil
		}
	})
	for _, c := range []struct {
		body   string
		status int
		says   string
	}{
		{`{"strategy":"good","buyers":3}`, 400, "buyers: 3 is out of range: give 1 to 2"},
		{`{"strategy":"","buyers":1}`, 400, "name a strategy"},
		{`{"strategy":"nope","buyers":0}`, 404, "give 1 to 2"},
		{`{"strategy":"far","buyers":1}`, 503, "no etcd"},
	} {
		call{method: "POST", path: "/api/lab/v1/traces", body: c.body}.wants(t, h.URL, c.status, c.says)
	}

	ask := call{method: "POST", path: "/api/lab/v1/traces", body: `{"strategy":"good","buyers":2}`}
	first := make(chan string)
	go func() {
		_, body, _ := ask.do(t, h.URL)
		first <- body
	}()
	<-under
	ask.wants(t, h.URL, http.StatusConflict, "a trace of good")
	made <- nil
	body := <-first
	var made1 struct{ ID, Strategy string }
	if err := json.Unmarshal([]byte(body), &made1); err != nil || made1.Strategy != "good" || made1.ID == "" {
		t.Errorf("the trace is %s, %v", body, err)
	}
	if status, again, _ := (call{method: "GET", path: "/api/lab/v1/traces/" + made1.ID}).do(t, h.URL); status != 200 || again != body {
		t.Errorf("by its address it is %d %s, want what it was: %s", status, again, body)
	}
	call{method: "GET", path: "/api/lab/v1/traces/none"}.wants(t, h.URL, 404, "unknown_trace")

	go func() { made <- errors.New("the wire is cut") }()
	ask.wants(t, h.URL, 503, "the wire is cut")

	call{method: "POST", path: "/api/lab/v1/runs", body: goodRun}.do(t, h.URL)
	<-load.configs
	ask.wants(t, h.URL, 409, "run_in_progress")
}
