package main

import (
	"os"

	"seckill/internal/lab"
)

// host is what the environment tells a lab.
func host() lab.Host {
	cache, _ := os.UserCacheDir() // "" if there is none
	return lab.Host{Environ: os.Environ(), Temp: os.TempDir(), Cache: cache}
}
