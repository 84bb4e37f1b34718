package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"seckill/internal/auth"
)

// AuthFlags say how a service knows its buyers.
type AuthFlags struct {
	AuthSecret   string `env:"SECKILL_AUTH_SECRET" placeholder:"FILE" help:"Buyers need a token (JWT, HS256) that is signed with the secret in this file, of 32 bytes or more; its sub is the user_id. Without this and --auth-jwks buyers are not authenticated: a demo."`
	AuthJWKS     string `name:"auth-jwks" env:"SECKILL_AUTH_JWKS" placeholder:"URL" help:"Buyers need a token that is signed with a key of this set (RS256, ES256, EdDSA)."`
	AuthAudience string `default:"${Audience}" env:"SECKILL_AUTH_AUDIENCE" help:"The aud that tokens must have."`
}

func (f AuthFlags) check() error {
	switch {
	case f.AuthSecret != "" && f.AuthJWKS != "":
		return errors.New("--auth-secret and --auth-jwks are both given: give one of them")
	case f.AuthAudience == "":
		return errors.New("--auth-audience must not be empty: tokens for other services would be taken")
	case f.AuthJWKS != "":
		if err := auth.CheckURL(f.AuthJWKS); err != nil {
			return fmt.Errorf("--auth-jwks %q: %w", f.AuthJWKS, err)
		}
	}
	return nil
}

const firstFetch = 6 * time.Second

// verifier is nil when buyers are not authenticated.
func (f AuthFlags) verifier(ctx context.Context, log *slog.Logger) (*auth.Verifier, error) {
	switch {
	case f.AuthSecret != "":
		secret, err := readAuthSecret(f.AuthSecret)
		if err != nil {
			return nil, err
		}
		v, err := auth.WithSecret(secret, f.AuthAudience)
		if err != nil {
			return nil, fmt.Errorf("--auth-secret %s: %w", f.AuthSecret, err)
		}
		return v, nil
	case f.AuthJWKS != "":
		v, err := auth.WithJWKS(f.AuthJWKS, f.AuthAudience)
		if err != nil {
			return nil, fmt.Errorf("--auth-jwks: %w", err)
		}
		ctx, cancel := context.WithTimeout(ctx, firstFetch)
		defer cancel()
		if err := v.Fetch(ctx); err != nil { // the server may come up later
			log.Warn("the keys of buyers' tokens cannot be read yet; buyers are refused until they can", "url", f.AuthJWKS, "error", err)
		}
		return v, nil
	default:
		return nil, nil
	}
}

// readAuthSecret reads the file without the final newline that editors add.
func readAuthSecret(path string) ([]byte, error) {
	text, err := readSecret("--auth-secret", path)
	return bytes.TrimRight(text, "\r\n"), err
}
