package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/point"
	"seckill/internal/seckill"
)

// Each file of testdata/calls is a conversation with its own server. labtest.Calls says how to read it.
func TestCalls(t *testing.T) {
	server := onMySQL(t, backend.Redis)
	reached, sold := 0, 0
	f := sells()
	sell := f.deduct
	f.deduct = func(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
		reached++
		return sell(ctx, p)
	}
	broken := catalog.Info{Name: "broken", New: func(catalog.Deps) (seckill.Strategy, error) { return f, errors.New("no") }}
	for name, s := range map[string]*httpapi.Server{
		"refusals":     serverWith(t, f, httpapi.Config{Points: &point.Points{}, Infos: []catalog.Info{broken}}),
		"sale":         serverWith(t, nil, httpapi.Config{}),
		"restock":      serverWith(t, nil, httpapi.Config{}),
		"reservations": serverWith(t, nil, httpapi.Config{Instance: server}),
		"counter":      serverWith(t, nil, httpapi.Config{Instance: server, Points: &point.Points{}}),
		"accepted":     serverWith(t, nil, httpapi.Config{Instance: onMySQL(t, backend.Redis)}), // its own claims
	} {
		t.Run(name, func(t *testing.T) {
			calls := labtest.Calls{TB: t, SQL: func(statement string) error { return s.Instance.DB.Exec(statement).Error }}
			calls.Ask = func(method, path, body string, headers []string) labtest.Answer {
				h := s.Handler
				if strings.HasPrefix(path, "/admin/") {
					h = s.AdminHandler
				}
				r := handled(t, h, newRequest(method, path, body, headers...))
				if name == "refusals" && method == "POST" && strings.HasPrefix(path, "/api/v1/seckill") &&
					r.status == http.StatusOK {
					sold++
				}
				return labtest.Answer{Status: r.status, Header: r.header, Body: r.body}
			}
			calls.Run("testdata/calls/" + name + ".txt")
			if name == "refusals" && reached != sold {
				t.Errorf("%d purchases reached the strategy, %d were answered", reached, sold)
			}
		})
	}
}
