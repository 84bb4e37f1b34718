package lab_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/lab/labtest"
)

// The processor time of the servers grows with their work.
func TestServersTime(t *testing.T) {
	l := privateLab(t)
	before, known := l.ServersTime()
	if !known || before <= 0 {
		t.Fatalf("a Redis that has started used %s, known: %t", before, known)
	}
	client := redis.NewClient(redisOptions(t, process(t, l, "redis").Login()))
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for after := before; after-before < 10*time.Millisecond; after, _ = l.ServersTime() {
		labtest.Must(t, client.Ping(ctx).Err())
	}
}
