package httpapi_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"seckill/internal/httpapi"
)

// The operator changes the level of the running process; others cannot.
func TestLogLevel(t *testing.T) {
	var out bytes.Buffer
	level := &slog.LevelVar{}
	s := serverWith(t, sells(), httpapi.Config{LogLevel: level,
		Log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}))})
	const path = "/debug/log-level"
	for _, method := range []string{"GET", "PUT"} {
		ask(t, s, method, path, `{"level":"debug"}`, "Authorization: ").want(t, method+" without the token", http.StatusForbidden, "forbidden")
	}
	accesses := func() int {
		out.Reset()
		ask(t, s, "GET", "/healthz", "")
		return strings.Count(out.String(), "/healthz")
	}
	if n := accesses(); n != 0 {
		t.Fatalf("at info the log has %d lines of an access", n)
	}
	put := func(name string) {
		t.Helper()
		var got struct{ Level string }
		ask(t, s, "PUT", path, `{"level":"`+name+`"}`).into(t, &got)
		if got.Level != name {
			t.Errorf("PUT %s answers %q", name, got.Level)
		}
		ask(t, s, "GET", path, "").into(t, &got)
		if got.Level != name {
			t.Errorf("after PUT %s, GET answers %q", name, got.Level)
		}
	}
	put("debug")
	if n := accesses(); n != 1 {
		t.Errorf("at debug the log has %d lines of an access, want 1", n)
	}
	put("error")
	if !strings.Contains(out.String(), "the log level is changed") {
		t.Errorf("the log does not say that its level was changed: %s", out.String())
	}
	if n := accesses(); n != 0 {
		t.Errorf("at error the log has %d lines of an access", n)
	}
	for _, body := range []string{`{"level":"DEBUG"}`, `{"level":"trace"}`, `{"level":4}`, `{}`, ``, `{"level":"info","for":1}`} {
		r := newRequest("PUT", path, body)
		r.Header.Set("Content-Type", "application/json")
		do(t, s, r).want(t, body, http.StatusBadRequest, "invalid")
	}
	if level.Level() != slog.LevelError {
		t.Errorf("a wrong level changed it to %s", level.Level())
	}
	r := handled(t, s.AdminHandler(), newRequest("PUT", path, `{"level":"info"}`, "Authorization: "))
	r.want(t, "on the admin listener", http.StatusOK, "")
	fixed := serverWith(t, sells(), httpapi.Config{})
	ask(t, fixed, "PUT", path, `{"level":"info"}`).want(t, "of a log that is fixed", http.StatusNotFound, "not_found")
}
