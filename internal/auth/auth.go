// Package auth tells which buyer a request comes from, by a signed token: a
// JWT whose subject is the user_id. Another service makes the tokens, such as
// the shop's login; this one only checks them.
package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// DefaultAudience is the aud claim that tokens must have by default.
const DefaultAudience = "seckill"

const (
	leeway     = 10 * time.Second // how far clocks may be apart
	leastBytes = 32               // of a secret: as many as SHA-256 has
	maxUser    = 1<<53 - 1
)

var (
	// ErrToken: the token is not valid. The text says why, and may be shown.
	ErrToken = errors.New("the token is not valid")
	// ErrKeys: the keys cannot be read now, so the token could not be checked.
	ErrKeys = errors.New("the keys that tokens are checked with cannot be read")
)

// A Verifier checks tokens. It is safe for concurrent use.
type Verifier struct {
	parser *jwt.Parser
	secret []byte // for HS256; nil: keys are used
	keys   *keys
}

// WithSecret returns a Verifier of tokens that are signed with a shared secret (HS256).
func WithSecret(secret []byte, audience string) (*Verifier, error) {
	if len(secret) < leastBytes {
		return nil, fmt.Errorf("the secret has %d bytes: give at least %d, such as those of: openssl rand -base64 48", len(secret), leastBytes)
	}
	return &Verifier{parser: newParser(audience, time.Now, jwt.SigningMethodHS256.Alg()), secret: secret}, nil
}

// An Option changes a Verifier of WithJWKS.
type Option func(*keys)

// Clock replaces time.Now.
func Clock(now func() time.Time) Option { return func(k *keys) { k.now = now } }

// Client replaces the HTTP client. The limits of time and size stay.
func Client(c *http.Client) Option { return func(k *keys) { k.client = c } }

// Patience replaces the 5 s that reading the set may take.
func Patience(d time.Duration) Option { return func(k *keys) { k.limit = d } }

// WithJWKS returns a Verifier of tokens that are signed with a key of the set at address
// (RS256, ES256 or EdDSA, as the key says). It fetches nothing yet.
func WithJWKS(address, audience string, options ...Option) (*Verifier, error) {
	if err := CheckURL(address); err != nil {
		return nil, err
	}
	k := newKeys(address)
	for _, o := range options {
		o(k)
	}
	return &Verifier{parser: newParser(audience, k.now, algorithms...), keys: k}, nil
}

// CheckURL returns an error unless address is https, or http on this machine.
// An attacker who can change the keys in transit can act as any buyer.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("it is no URL, such as https://login.example/.well-known/jwks.json")
	case u.Scheme == "https" && u.Host != "", u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	default:
		return errors.New("it must be an https:// URL; http:// is for this machine alone")
	}
}

func newParser(audience string, now func() time.Time, algorithms ...string) *jwt.Parser {
	return jwt.NewParser(jwt.WithValidMethods(algorithms), jwt.WithExpirationRequired(), jwt.WithAudience(audience),
		jwt.WithLeeway(leeway), jwt.WithTimeFunc(now), jwt.WithStrictDecoding())
}

// User checks a token and returns its user_id. Errors are ErrToken or ErrKeys.
func (v *Verifier) User(ctx context.Context, token string) (int64, error) {
	var claims jwt.RegisteredClaims
	_, err := v.parser.ParseWithClaims(token, &claims, func(t *jwt.Token) (any, error) {
		if _, ok := t.Header["crit"]; ok { // RFC 7515: refuse extensions that are not understood
			return nil, errors.New("its header has crit, which is not known here")
		}
		if v.keys == nil {
			return v.secret, nil
		}
		kid, _ := t.Header["kid"].(string)
		return v.keys.find(ctx, kid, t.Method.Alg())
	})
	switch {
	case errors.Is(err, ErrKeys):
		return 0, err
	case err != nil:
		return 0, fmt.Errorf("%w: %w", ErrToken, err)
	}
	user, err := strconv.ParseInt(claims.Subject, 10, 64)
	if err != nil || user < 1 || user > maxUser || strconv.FormatInt(user, 10) != claims.Subject {
		return 0, fmt.Errorf("%w: its sub %q is no user_id, such as 42", ErrToken, claims.Subject)
	}
	return user, nil
}

// Fetch reads the key set now. A Verifier with a secret has none, and returns nil.
func (v *Verifier) Fetch(ctx context.Context) error {
	if v.keys == nil {
		return nil
	}
	return v.keys.refresh(ctx)
}

// Sign makes a user's token, as a login service would: for load tests.
func Sign(secret []byte, audience string, user int64, lifetime time.Duration) (string, error) {
	now := time.Now()
	return jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Subject: strconv.FormatInt(user, 10), Audience: jwt.ClaimStrings{audience},
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(lifetime)),
	}).SignedString(secret)
}
