package backend_test

import (
	"strings"
	"testing"

	"seckill/internal/backend"
)

// FuzzRedisAddress: an address is refused without its password, or means the same
// when it is written anew.
func FuzzRedisAddress(f *testing.F) {
	for _, c := range [][2]string{{"redis://:", "@h:1"}, {"redis://u:", "@[::1]"}, {"rediss://:", "@h"}, {"redis://:", ""},
		{"redis://:", "@h:1/3?x=1"}, {"://", "@"}, {":", "@h:1"}, {"redis://%zz:", "@h"}, {"", ""}, {"127.0.0.1:", "1"}} {
		f.Add(c[0], c[1])
	}
	const secret = "hunter22"
	f.Fuzz(func(t *testing.T, before, after string) {
		address := before + secret + after
		a, err := backend.ParseRedis(address)
		if err != nil {
			isHost := strings.Contains(before, "@") && !strings.Contains(after, "@")
			if strings.Contains(err.Error(), secret) && !strings.Contains(before+after, secret) && !isHost {
				t.Fatalf("%q: the error has the password: %v", address, err)
			}
			return
		}
		if again, err := backend.ParseRedis(a.String()); err != nil || again != a {
			t.Fatalf("%q is %+v, and written anew %+v, %v", address, a, again, err)
		}
	})
}
