package auth_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"

	"seckill/internal/auth"
)

var secret = []byte("a secret of thirty-two bytes, or more")

func claims(change func(jwt.MapClaims)) jwt.MapClaims {
	c := jwt.MapClaims{"sub": "42", "aud": "seckill", "exp": time.Now().Add(time.Hour).Unix()}
	if change != nil {
		change(c)
	}
	return c
}

func token(t *testing.T, method jwt.SigningMethod, key any, kid string, c jwt.MapClaims) string {
	t.Helper()
	made := jwt.NewWithClaims(method, c)
	if kid != "" {
		made.Header["kid"] = kid
	}
	text, err := made.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func hs256(t *testing.T, change func(jwt.MapClaims)) string {
	return token(t, jwt.SigningMethodHS256, secret, "", claims(change))
}

func TestSecret(t *testing.T) {
	v, err := auth.WithSecret(secret, "seckill")
	if err != nil {
		t.Fatal(err)
	}
	is := func(name string, value any) func(jwt.MapClaims) {
		return func(c jwt.MapClaims) { c[name] = value }
	}
	without := func(name string) func(jwt.MapClaims) { return func(c jwt.MapClaims) { delete(c, name) } }
	now := time.Now().Unix()
	critical := jwt.NewWithClaims(jwt.SigningMethodHS256, claims(nil))
	critical.Header["crit"] = []string{"b64"}
	crit, err := critical.SignedString(secret)
	if err != nil {
		t.Fatal(err)
	}
	good := hs256(t, nil)
	head, rest, _ := strings.Cut(good, ".")
	body, mac, _ := strings.Cut(rest, ".")
	for _, c := range []struct {
		what, token string
		ok          bool
	}{
		{"good", good, true},
		{"of our own making", must(auth.Sign(secret, "seckill", 42, time.Minute)), true},
		{"for several", hs256(t, is("aud", []string{"other", "seckill"})), true},
		{"expired within the leeway", hs256(t, is("exp", now-5)), true},
		{"expired", hs256(t, is("exp", now-60)), false},
		{"without exp", hs256(t, without("exp")), false},
		{"exp is a text", hs256(t, is("exp", "tomorrow")), false},
		{"not yet", hs256(t, is("nbf", now+60)), false},
		{"for another", hs256(t, is("aud", "other")), false},
		{"for nobody", hs256(t, without("aud")), false},
		{"without sub", hs256(t, without("sub")), false},
		{"sub is a name", hs256(t, is("sub", "alice")), false},
		{"sub with a zero before", hs256(t, is("sub", "042")), false},
		{"sub with a sign", hs256(t, is("sub", "+42")), false},
		{"sub is 0", hs256(t, is("sub", "0")), false},
		{"sub is too large", hs256(t, is("sub", "9007199254740992")), false},
		{"another secret", token(t, jwt.SigningMethodHS256, []byte("another secret of thirty-two bytes"), "", claims(nil)), false},
		{"HS512", token(t, jwt.SigningMethodHS512, secret, "", claims(nil)), false},
		{"alg none", token(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "", claims(nil)), false},
		{"alg None", part(`{"alg":"None","typ":"JWT"}`) + "." + body + ".", false},
		{"no signature", head + "." + body + ".", false},
		{"another body", head + "." + part(`{"sub":"43","aud":"seckill","exp":99999999999}`) + "." + mac, false},
		{"crit", crit, false},
		{"nothing", "", false},
		{"no token", "x.y.z", false},
	} {
		user, err := v.User(t.Context(), c.token)
		if c.ok && (user != 42 || err != nil) || !c.ok && (user != 0 || !errors.Is(err, auth.ErrToken)) {
			t.Errorf("%s: user %d, %v; want it to be good: %v", c.what, user, err, c.ok)
		}
	}
	if _, err := auth.WithSecret(secret[:31], "seckill"); err == nil || !strings.Contains(err.Error(), "at least 32") {
		t.Errorf("a short secret: %v", err)
	}
}

func part(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var (
	rsaKey   = must(rsa.GenerateKey(rand.Reader, 2048))
	smallRSA = must(rsa.GenerateKey(rand.Reader, 1024))
	ecKey    = must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	edKey    = func() ed25519.PrivateKey { _, k, err := ed25519.GenerateKey(rand.Reader); return must(k, err) }()
)

// jwk describes the public half of a key.
func jwk(key crypto.Signer, kid string, alg jwkset.ALG, use jwkset.USE) jwkset.JWKMarshal {
	return must(jwkset.NewJWKFromKey(key.Public(), jwkset.JWKOptions{
		Metadata: jwkset.JWKMetadataOptions{KID: kid, ALG: alg, USE: use}})).Marshal()
}

// A server serves a key set, has a clock of its own, and counts requests.
type server struct {
	url   string
	asked atomic.Int64
	mu    sync.Mutex
	serve http.HandlerFunc
	time  time.Time
}

func (s *server) answer(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serve = h
}

func (s *server) has(keys ...any) {
	text := must(json.Marshal(map[string]any{"keys": keys}))
	s.answer(func(w http.ResponseWriter, _ *http.Request) { w.Write(text) })
}

func (s *server) breaks() {
	s.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
}

func (s *server) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.time
}

func (s *server) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.time = s.time.Add(d)
}

func jwks(t *testing.T) (*server, *auth.Verifier) {
	t.Helper()
	s := &server{time: time.Now()}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		s.mu.Lock()
		serve := s.serve
		s.mu.Unlock()
		serve(w, r)
	}))
	t.Cleanup(h.Close)
	s.url = h.URL
	v, err := auth.WithJWKS(h.URL, "seckill", auth.Clock(s.now))
	if err != nil {
		t.Fatal(err)
	}
	return s, v
}

// user checks a token and wants this error: nil, ErrToken or ErrKeys.
func user(t *testing.T, v *auth.Verifier, what, token string, want error) {
	t.Helper()
	got, err := v.User(t.Context(), token)
	if want == nil && (err != nil || got != 42) || want != nil && (got != 0 || !errors.Is(err, want)) {
		t.Errorf("%s: user %d, %v; want %v", what, got, err, want)
	}
}

func (s *server) wasAsked(t *testing.T, what string, want int64) {
	t.Helper()
	if got := s.asked.Load(); got != want {
		t.Errorf("%s: the set was read %d times, want %d", what, got, want)
	}
}

// A token cannot choose another algorithm than its key's.
func TestAlgorithmsAreTheKeys(t *testing.T) {
	s, v := jwks(t)
	s.has(jwk(rsaKey, "rsa", "RS256", "sig"), jwk(ecKey, "ec", "", "sig"), jwk(edKey, "ed", "EdDSA", ""),
		jwk(smallRSA, "small", "RS256", "sig"), jwk(rsaKey, "pss", "PS256", "sig"), jwk(rsaKey, "enc", "", "enc"),
		map[string]string{"kty": "oct", "kid": "oct", "alg": "HS256", "k": base64.RawURLEncoding.EncodeToString(secret)},
		map[string]string{"kty": "new", "kid": "of a kind to come"}, "nonsense")
	der := must(x509.MarshalPKIXPublicKey(rsaKey.Public()))
	published := [][]byte{der, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), rsaKey.N.Bytes()}
	user(t, v, "RS256", token(t, jwt.SigningMethodRS256, rsaKey, "rsa", claims(nil)), nil)
	user(t, v, "ES256, by the key's type", token(t, jwt.SigningMethodES256, ecKey, "ec", claims(nil)), nil)
	user(t, v, "EdDSA", token(t, jwt.SigningMethodEdDSA, edKey, "ed", claims(nil)), nil)
	for _, key := range published {
		user(t, v, "HS256 with the public key", token(t, jwt.SigningMethodHS256, key, "rsa", claims(nil)), auth.ErrToken)
	}
	user(t, v, "HS256 with a key of the set", token(t, jwt.SigningMethodHS256, secret, "oct", claims(nil)), auth.ErrToken)
	user(t, v, "none", token(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "rsa", claims(nil)), auth.ErrToken)
	user(t, v, "RS512", token(t, jwt.SigningMethodRS512, rsaKey, "rsa", claims(nil)), auth.ErrToken)
	user(t, v, "PS256", token(t, jwt.SigningMethodPS256, rsaKey, "pss", claims(nil)), auth.ErrToken)
	user(t, v, "a key for PS256 alone", token(t, jwt.SigningMethodRS256, rsaKey, "pss", claims(nil)), auth.ErrToken)
	user(t, v, "a key for encryption", token(t, jwt.SigningMethodRS256, rsaKey, "enc", claims(nil)), auth.ErrToken)
	user(t, v, "a key of 1024 bits", token(t, jwt.SigningMethodRS256, smallRSA, "small", claims(nil)), auth.ErrToken)
	user(t, v, "another key's kid", token(t, jwt.SigningMethodRS256, rsaKey, "ec", claims(nil)), auth.ErrToken)
	user(t, v, "no kid, and several keys", token(t, jwt.SigningMethodRS256, rsaKey, "", claims(nil)), auth.ErrToken)
	user(t, v, "expired", token(t, jwt.SigningMethodRS256, rsaKey, "rsa", claims(func(c jwt.MapClaims) { c["exp"] = 1 })), auth.ErrToken)
	s.wasAsked(t, "all of these", 1)
}

func TestOnlyKeyNeedsNoName(t *testing.T) {
	s, v := jwks(t)
	s.has(jwk(ecKey, "ec", "", ""))
	user(t, v, "no kid, and one key", token(t, jwt.SigningMethodES256, ecKey, "", claims(nil)), nil)
}

func TestRotation(t *testing.T) {
	s, v := jwks(t)
	old := token(t, jwt.SigningMethodRS256, rsaKey, "old", claims(nil))
	next := token(t, jwt.SigningMethodES256, ecKey, "new", claims(nil))
	s.has(jwk(rsaKey, "old", "", ""))
	user(t, v, "the key of today", old, nil)
	s.has(jwk(ecKey, "new", "", ""))
	user(t, v, "a new key, just after the set was read", next, auth.ErrToken)
	s.wasAsked(t, "within the pause", 1)
	s.pass(11 * time.Second)
	user(t, v, "a new key", next, nil)
	s.wasAsked(t, "for the new key", 2)
	user(t, v, "a key that was withdrawn", old, auth.ErrToken)

	// Old keys are read again in the background, and stay valid meanwhile.
	s.has(jwk(rsaKey, "newest", "", ""))
	s.pass(16 * time.Minute)
	user(t, v, "an old set", next, nil)
	if err := v.Fetch(t.Context()); err != nil { // waits for the attempt, or makes one
		t.Fatal(err)
	}
	user(t, v, "the key that is withdrawn now", next, auth.ErrToken)
}

func TestKeysSurviveAnOutage(t *testing.T) {
	s, v := jwks(t)
	good := token(t, jwt.SigningMethodRS256, rsaKey, "rsa", claims(func(c jwt.MapClaims) { c["exp"] = time.Now().Add(99 * time.Hour).Unix() }))
	s.breaks()
	user(t, v, "before the first keys", good, auth.ErrKeys)
	user(t, v, "again, at once", good, auth.ErrKeys)
	s.wasAsked(t, "within the pause", 1)
	s.has(jwk(rsaKey, "rsa", "", ""))
	s.pass(11 * time.Second)
	user(t, v, "when it is up", good, nil)
	s.breaks()
	for range 5 {
		s.pass(time.Hour)
		user(t, v, "while it is down", good, nil)
		v.Fetch(t.Context()) // the attempt has ended
	}
	user(t, v, "a kid that nobody knows while it is down", token(t, jwt.SigningMethodRS256, rsaKey, "x", claims(nil)), auth.ErrKeys)
	s.pass(20 * time.Hour)
	user(t, v, "after a day", good, auth.ErrKeys)
}

// A flood of tokens with unknown kids reads the set once per pause.
func TestUnknownKidFlood(t *testing.T) {
	s, v := jwks(t)
	s.has(jwk(rsaKey, "rsa", "", ""))
	user(t, v, "the first", token(t, jwt.SigningMethodRS256, rsaKey, "rsa", claims(nil)), nil)
	before := s.asked.Load()
	var flood sync.WaitGroup
	const minutes = 2
	for range minutes * 60 {
		for range 20 {
			kid := rand.Text()
			flood.Go(func() {
				v.User(t.Context(), token(t, jwt.SigningMethodHS256, secret, kid, claims(nil))) // alg is refused first
				v.User(t.Context(), part(`{"alg":"RS256","kid":"`+kid+`"}`)+"."+part(`{}`)+"."+part("x"))
			})
		}
		flood.Wait()
		s.pass(time.Second)
	}
	if asked := s.asked.Load() - before; asked > minutes*6+1 || asked == 0 {
		t.Errorf("%d kids in %d minutes: the set was read %d times", minutes*60*20, minutes, asked)
	}
	user(t, v, "a good one in the flood", token(t, jwt.SigningMethodRS256, rsaKey, "rsa", claims(nil)), nil)
}

// There is one attempt at a time, and a bounded number of requests wait for it.
func TestSlowKeySet(t *testing.T) {
	s, v := jwks(t)
	asked, goOn := make(chan bool), make(chan bool)
	text := must(json.Marshal(map[string]any{"keys": []any{jwk(rsaKey, "rsa", "", "")}}))
	s.answer(func(w http.ResponseWriter, _ *http.Request) {
		asked <- true
		<-goOn
		w.Write(text)
	})
	good := token(t, jwt.SigningMethodRS256, rsaKey, "rsa", claims(nil))
	const buyers = 200
	told := make(chan error, buyers)
	for range buyers {
		go func() {
			_, err := v.User(context.Background(), good)
			told <- err
		}()
	}
	<-asked
	for range buyers - 64 {
		if err := <-told; !errors.Is(err, auth.ErrKeys) {
			t.Errorf("one too many was told %v", err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.User(gone, good); !errors.Is(err, auth.ErrKeys) {
		t.Errorf("who hung up was told %v", err)
	}
	close(goOn)
	for range 64 {
		if err := <-told; err != nil {
			t.Errorf("one who waited was told %v", err)
		}
	}
	s.wasAsked(t, "for all", 1)
}

// A server that never answers delays a request by the limit, and no more.
func TestSilentKeySet(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer h.Close()
	v, err := auth.WithJWKS(h.URL, "seckill", auth.Patience(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	user(t, v, "no answer", token(t, jwt.SigningMethodRS256, rsaKey, "rsa", claims(nil)), auth.ErrKeys)
}

func TestWrongKeySets(t *testing.T) {
	many := make([]any, 101)
	for i := range many {
		many[i] = jwk(ecKey, fmt.Sprint(i), "", "")
	}
	elsewhere, _ := jwks(t)
	elsewhere.has(jwk(rsaKey, "rsa", "", ""))
	for what, h := range map[string]http.HandlerFunc{
		"huge":     func(w http.ResponseWriter, _ *http.Request) { w.Write(bytes.Repeat([]byte(" "), 2<<20)) },
		"no JSON":  func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"no keys":  func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"keys":[]}`) },
		"too many": func(w http.ResponseWriter, _ *http.Request) { json.NewEncoder(w).Encode(map[string]any{"keys": many}) },
		"moved to plain HTTP elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/keys", http.StatusFound)
		},
		"moved for ever": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/again", http.StatusFound) },
	} {
		s, v := jwks(t)
		s.answer(h)
		if err := v.Fetch(t.Context()); err == nil {
			t.Errorf("%s: it was taken", what)
		}
		user(t, v, what, token(t, jwt.SigningMethodRS256, rsaKey, "rsa", claims(nil)), auth.ErrKeys)
	}
	for _, address := range []string{"http://login.example/keys", "ftp://login.example", "login.example/keys", "", "https://", "file:///etc/passwd"} {
		if _, err := auth.WithJWKS(address, "seckill"); err == nil {
			t.Errorf("%q was taken as an address", address)
		}
	}
}
