package lab_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

func ensemble(t *testing.T, l *lab.Lab, name string) *lab.Ensemble {
	t.Helper()
	e, err := l.Ensemble(t.Context(), name)
	must(t, "start the ensemble of "+name, err)
	return e
}

func take(t *testing.T, e *lab.Ensemble) (give func()) {
	t.Helper()
	give, err := e.Take(t.Context())
	must(t, "take the ensemble", err)
	return give
}

// Servers of an ensemble are neither backends nor services of the lab.
func TestEnsemblesStandBeside(t *testing.T) {
	l := ownLab(t, []string{}...)
	e := ensemble(t, l, backend.NameRedis)
	if again := ensemble(t, l, backend.NameRedis); again != e {
		t.Error("a second ensemble was started")
	}
	if len(l.Backends()) != 0 || len(l.Services()) != 0 || l.Config().RedisAddrs != nil {
		t.Errorf("the lab has backends %v and services %v, want none", l.Backends(), l.Services())
	}
	give := take(t, e)
	waiting, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := e.Take(waiting); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second user is told %v, want that he has to wait", err)
	}
	give()
	take(t, e)()
	if _, err := l.Ensemble(t.Context(), backend.NameMySQL); !errors.Is(err, lab.ErrNoServer) {
		t.Errorf("an ensemble of MySQL: %v, want %v", err, lab.ErrNoServer)
	}
	without := started(t, lab.Options{Backends: []string{}, Programs: map[lab.Tool]lab.Program{lab.Etcd: {}}})
	if _, err := without.Ensemble(t.Context(), backend.NameEtcd); !errors.Is(err, lab.ErrNoServer) || !strings.Contains(err.Error(), "seckill doctor") {
		t.Errorf("an ensemble without its program: %v, want %v and how to get it", err, lab.ErrNoServer)
	}
}
