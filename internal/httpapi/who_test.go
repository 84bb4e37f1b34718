package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"seckill/internal/auth"
	"seckill/internal/httpapi"
)

var buyersSecret = []byte("a secret of thirty-two bytes, or more")

// signed is the Authorization of a user.
func signed(t testing.TB, user int64) string {
	t.Helper()
	token, err := auth.Sign(buyersSecret, auth.DefaultAudience, user, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return "Authorization: Bearer " + token
}

// Where buyers are authenticated, each can buy, see and cancel as himself
// alone; the operator sees and cancels for all, and buys for nobody.
func TestWhoseOrders(t *testing.T) {
	v, err := auth.WithSecret(buyersSecret, auth.DefaultAudience)
	if err != nil {
		t.Fatal(err)
	}
	s := serverWith(t, nil, httpapi.Config{Buyers: v})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":9}`).want(t, "reset", 200, "")
	const none, wrong = "Authorization: ", "Authorization: Bearer x.y.z"
	mine, other, operator := signed(t, 7), signed(t, 8), "Authorization: Bearer "+adminToken
	late, err := auth.Sign(buyersSecret, auth.DefaultAudience, 7, -time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	expired := "Authorization: Bearer " + late
	const purchase, orders = `{"sku_id":1,"user_id":7,"quantity":1}`, "/api/v1/orders?user_id=7"
	var sold struct {
		ID string `json:"order_id"`
	}
	for _, c := range []struct{ who, header string }{{"nobody", none}, {"a wrong token", wrong}, {"an expired token", expired}, {"the operator", operator}} {
		r := ask(t, s, "POST", "/api/v1/seckill", purchase, c.header)
		r.want(t, c.who+" buys", http.StatusUnauthorized, "unauthenticated")
		said := r.header.Get("WWW-Authenticate")
		if !strings.HasPrefix(said, `Bearer realm="seckill"`) || strings.Contains(said, "invalid_token") != (c.header != none) {
			t.Errorf("%s: WWW-Authenticate is %q", c.who, said)
		}
	}
	ask(t, s, "POST", "/api/v1/seckill", purchase, other).want(t, "another buys", http.StatusForbidden, "forbidden")
	ask(t, s, "POST", "/api/v1/seckill", purchase, mine, other).want(t, "two tokens", http.StatusUnauthorized, "unauthenticated")
	ask(t, s, "POST", "/api/v1/seckill", purchase, mine).into(t, &sold)
	for _, path := range []string{orders, orders + "&request_id=k"} {
		ask(t, s, "GET", path, "", none).want(t, "nobody: "+path, http.StatusUnauthorized, "unauthenticated")
		ask(t, s, "GET", path, "", wrong).want(t, "a wrong token: "+path, http.StatusUnauthorized, "unauthenticated")
		ask(t, s, "GET", path, "", other).want(t, "another: "+path, http.StatusForbidden, "forbidden")
		ask(t, s, "GET", path, "", mine).want(t, "the buyer: "+path, http.StatusOK, "")
		ask(t, s, "GET", path, "", operator).want(t, "the operator: "+path, http.StatusOK, "")
	}
	ask(t, s, "GET", "/api/v1/orders", "", mine).want(t, "a buyer lists all", http.StatusForbidden, "forbidden")
	ask(t, s, "GET", "/api/v1/orders?request_id=k", "", mine).want(t, "a buyer asks for any request", http.StatusForbidden, "forbidden")
	ask(t, s, "GET", "/api/v1/audit?sku_id=1", "", mine).want(t, "a buyer audits", http.StatusForbidden, "forbidden")
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":9}`, mine).want(t, "a buyer resets", http.StatusForbidden, "forbidden")

	order := "/api/v1/orders/" + sold.ID
	ask(t, s, "DELETE", order, "", none).want(t, "nobody cancels", http.StatusUnauthorized, "unauthenticated")
	ask(t, s, "DELETE", "/api/v1/orders/none", "", none).want(t, "nobody cancels nothing", http.StatusUnauthorized, "unauthenticated")
	ask(t, s, "DELETE", order, "", other).want(t, "another cancels", http.StatusForbidden, "forbidden")
	ask(t, s, "DELETE", order, "", mine).want(t, "the buyer cancels", http.StatusOK, "")
	ask(t, s, "POST", "/api/v1/seckill", purchase, mine).into(t, &sold)
	ask(t, s, "DELETE", "/api/v1/orders/"+sold.ID, "", operator).want(t, "the operator cancels", http.StatusOK, "")
}

// While the keys cannot be read nothing is known of a token, and nothing is
// sold.
func TestKeysCannotBeRead(t *testing.T) {
	down := httptest.NewServer(http.NotFoundHandler())
	defer down.Close()
	v, err := auth.WithJWKS(down.URL, auth.DefaultAudience)
	if err != nil {
		t.Fatal(err)
	}
	f := sells()
	s := serverWith(t, f, httpapi.Config{Buyers: v})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":9}`).want(t, "reset", 200, "")
	const some = "Authorization: Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ.e30.eA"
	ask(t, s, "POST", "/api/v1/seckill", `{"sku_id":1,"user_id":7}`, some).want(t, "a purchase", http.StatusServiceUnavailable, "backend_unavailable")
	if err := v.Fetch(context.Background()); err == nil {
		t.Error("the keys were read")
	}
}

// In a demo a user_id is taken as it is given.
func TestDemo(t *testing.T) {
	s := serverWith(t, sells(), httpapi.Config{})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":9}`).want(t, "reset", 200, "")
	ask(t, s, "POST", "/api/v1/seckill", `{"sku_id":1,"user_id":7}`, "Authorization: ").want(t, "a purchase", 200, "")
	ask(t, s, "POST", "/api/v1/seckill", `{"sku_id":1,"user_id":7}`, "Authorization: Bearer anything").want(t, "with any token", 200, "")
}
