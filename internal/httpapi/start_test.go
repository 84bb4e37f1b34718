package httpapi_test

import (
	"fmt"
	"testing"
	"time"

	"seckill/internal/httpapi"
)

// The crowd before the start stays away from the strategy, and from what it locks. (That
// no strategy sells early to those who reach it is in the conformance suite.)
func TestAnEarlyBuyerDoesNotReachTheStrategy(t *testing.T) {
	s := serverWith(t, sells(), httpapi.Config{}) // which would sell to anyone
	scheduled := fmt.Sprintf(`{"stock":100,"starts_at":%q}`, time.Now().Add(time.Hour).Format(time.RFC3339Nano))
	ask(t, s, "PUT", "/api/v1/skus/1", scheduled).want(t, "setting a start", 200, "")
	ask(t, s, "POST", "/api/v1/seckill", good).want(t, "buying an hour early", 409, "not_started")
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":100}`).want(t, "opening the sale", 200, "")
	ask(t, s, "POST", "/api/v1/seckill", good).want(t, "buying while it is on", 200, "")
}
