package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// TokenFlags give the token of admin calls. Prefer the environment or a file:
// every user of the machine can read flags.
type TokenFlags struct {
	Token     string `env:"SECKILL_TOKEN" help:"Token of admin calls. Better in the environment or a file: others can read flags." placeholder:"TOKEN"`
	TokenFile string `env:"SECKILL_TOKEN_FILE" help:"File that has the token." placeholder:"FILE"`
}

func (f TokenFlags) check() error {
	if f.Token != "" && f.TokenFile != "" {
		return errors.New("--token and --token-file are both given (perhaps as SECKILL_TOKEN or SECKILL_TOKEN_FILE): give one of them")
	}
	return checkToken(f.Token)
}

// read returns the token that was given; "" if none was.
func (f TokenFlags) read() (string, error) {
	if f.TokenFile == "" {
		return f.Token, nil
	}
	return readToken(f.TokenFile)
}

// checkToken checks that the token can be sent in a header.
func checkToken(token string) error {
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("--token must be of visible ASCII characters, as a header has")
	}
	return nil
}

// readToken reads a file that only its owner, and perhaps a group, may read.
func readToken(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	if info.Mode().Perm()&0o007 != 0 {
		return "", fmt.Errorf("--token-file: every user of this machine can reach %s: run chmod 600 %s, and choose another secret if it was there for long",
			path, path)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	switch {
	case token == "":
		return "", fmt.Errorf("--token-file: there is no token in %s: put one there", path)
	case checkToken(token) != nil:
		return "", fmt.Errorf("--token-file: %s must hold one line of visible ASCII characters, as a header has", path)
	}
	return token, nil
}

// serviceToken is the token of a service: the one that was given, or a new one in a
// file for the operator. cleanUp removes that file.
func (f TokenFlags) serviceToken() (token, file string, cleanUp func(), err error) {
	if token, err = f.read(); token != "" || err != nil {
		return token, "", func() {}, err
	}
	folder, err := os.MkdirTemp("", "seckill-serve-*") // mode 0700
	if err != nil {
		return "", "", nil, fmt.Errorf("make a folder for the admin token: %w (give --token-file)", err)
	}
	token, file = rand.Text(), filepath.Join(folder, "token")
	return token, file, func() { os.RemoveAll(folder) }, os.WriteFile(file, []byte(token+"\n"), 0o600)
}
