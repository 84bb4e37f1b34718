package backend_test

import (
	"strings"
	"testing"

	"seckill/internal/backend"
)

// FuzzRedisAddress: an address is refused without its password, or means the same
// when it is written anew.
func FuzzRedisAddress(f *testing.F) {
	for _, address := range []string{"", "127.0.0.1:6379", "redis://:hunter22@h:1", "redis://u:hunter22@[::1]", "rediss://:hunter22@h", "redis://:hunter22",
		"redis://:hunter22@h:1/3?x=1", "://hunter22@", ":hunter22@h:1", "redis://%zz:hunter22@h"} {
		f.Add(address)
	}
	const secret = "hunter22"
	f.Fuzz(func(t *testing.T, address string) {
		a, err := backend.ParseRedis(address)
		if err != nil {
			if before, _, found := strings.Cut(address, secret); found && strings.Contains(address[len(before):], "@") && strings.Contains(err.Error(), secret) {
				t.Fatalf("%q: the error has the password: %v", address, err)
			}
			return
		}
		if again, err := backend.ParseRedis(a.String()); err != nil || again != a {
			t.Fatalf("%q is %+v, and written anew %+v, %v", address, a, again, err)
		}
	})
}
