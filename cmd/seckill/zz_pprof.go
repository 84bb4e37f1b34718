package main

import (
	"net/http"
	_ "net/http/pprof"
	"os"
)

func init() {
	if a := os.Getenv("ZZ_PPROF"); a != "" && len(os.Args) > 1 && os.Args[1] == "serve" {
		go http.ListenAndServe(a, nil)
	}
}
