package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// TokenFlags has the token of admin calls.
type TokenFlags struct {
	Token string `env:"SECKILL_TOKEN" help:"Token of admin calls. Better in the environment: every user of the machine can read flags." placeholder:"TOKEN"`
}

func (f TokenFlags) checkTokenFlag() error { return checkToken(f.Token) }

// checkToken checks that the token can be sent in a header.
func checkToken(token string) error {
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("--token must be of visible ASCII characters, as a header has")
	}
	return nil
}

// serviceToken returns the token of a service: the given token, or a new one in a file for the
// operator. cleanUp removes the file.
func (f TokenFlags) serviceToken() (token, file string, cleanUp func(), err error) {
	if f.Token != "" {
		return f.Token, "", func() {}, nil
	}
	folder, err := os.MkdirTemp("", "seckill-serve-*") // mode 0700
	if err != nil {
		return "", "", nil, fmt.Errorf("make a folder for the admin token: %w (give SECKILL_TOKEN)", err)
	}
	token, file = rand.Text(), filepath.Join(folder, "token")
	return token, file, func() { os.RemoveAll(folder) }, os.WriteFile(file, []byte(token+"\n"), 0o600)
}
