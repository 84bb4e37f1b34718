package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
)

// Each key is used with one of these algorithms alone: the token does not choose.
var algorithms = []string{jwt.SigningMethodRS256.Alg(), jwt.SigningMethodES256.Alg(), jwt.SigningMethodEdDSA.Alg()}

const (
	fresh       = 15 * time.Minute // keys are read again after this
	kept        = 24 * time.Hour   // keys are used for so long when they cannot be read again
	pause       = 10 * time.Second // at least, between two attempts to read
	fetchLimit  = 5 * time.Second
	mostBytes   = 1 << 20
	mostKeys    = 100
	mostWaiting = 64 // requests that wait for keys that are being read
	leastRSA    = 2048
)

// keys is a key set that is read on demand: one attempt at a time, and no more
// than one per pause, whatever tokens are sent.
type keys struct {
	url    string
	client *http.Client
	now    func() time.Time
	limit  time.Duration // of one attempt

	mu      sync.Mutex
	byID    map[string]key
	fetched time.Time // when byID was read; zero: never
	tried   time.Time // when it was last attempted
	failed  error     // of the last attempt
	flight  *flight   // the attempt under way; nil: none
	waiting int
}

type key struct {
	public    any
	algorithm string
}

// A flight is one attempt to read the set; done is closed at its end.
type flight struct {
	done chan struct{}
	err  error
}

func newKeys(url string) *keys {
	return &keys{url: url, now: time.Now, limit: fetchLimit, client: &http.Client{
		// A redirect is held to the same rule as the address itself.
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > 3 {
				return errors.New("too many redirects")
			}
			return CheckURL(r.URL.String())
		}}}
}

// find is the key of a token. It reads the set when the key is not in it,
// because keys are rotated, and when it was read long ago. While the set
// cannot be read, the keys that are known stay good for a day.
func (k *keys) find(ctx context.Context, id, algorithm string) (any, error) {
	k.mu.Lock()
	now := k.now()
	found, ok := k.lookUp(id, now)
	if ok && now.Sub(k.fetched) < fresh {
		k.mu.Unlock()
		return found.forAlgorithm(algorithm)
	}
	f := k.flight
	if f == nil && now.Sub(k.tried) >= pause {
		f = k.begin(now)
	}
	if ok { // old, and good until the attempt has ended
		k.mu.Unlock()
		return found.forAlgorithm(algorithm)
	}
	if f == nil {
		defer k.mu.Unlock()
		return nil, k.unknown(id)
	}
	if k.waiting >= mostWaiting {
		defer k.mu.Unlock()
		return nil, fmt.Errorf("%w: they are being read, and too many wait for them", ErrKeys)
	}
	k.waiting++
	k.mu.Unlock()
	err := f.wait(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waiting--
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	if found, ok = k.lookUp(id, k.now()); ok {
		return found.forAlgorithm(algorithm)
	}
	return nil, k.unknown(id)
}

// lookUp finds a key by its kid. A token without one uses the set's only key.
func (k *keys) lookUp(id string, now time.Time) (found key, ok bool) {
	if now.Sub(k.fetched) >= kept {
		return key{}, false
	}
	if id == "" && len(k.byID) == 1 {
		for _, found = range k.byID {
			return found, true
		}
	}
	found, ok = k.byID[id]
	return found, ok
}

func (k *keys) unknown(id string) error {
	if k.failed != nil || k.fetched.IsZero() {
		return fmt.Errorf("%w: %w", ErrKeys, k.failed)
	}
	return fmt.Errorf("no key has the kid %.100q", id)
}

func (k key) forAlgorithm(algorithm string) (any, error) {
	if k.algorithm != algorithm {
		return nil, fmt.Errorf("its alg is %s, and its key is for %s", algorithm, k.algorithm)
	}
	return k.public, nil
}

// refresh reads the set, or waits for an attempt that is under way.
func (k *keys) refresh(ctx context.Context) error {
	k.mu.Lock()
	f := k.flight
	if f == nil {
		f = k.begin(k.now())
	}
	k.mu.Unlock()
	return f.wait(ctx)
}

func (f *flight) wait(ctx context.Context) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin starts an attempt to read the set. Several requests may wait for it, so
// it does not end with any of them. k.mu is held.
func (k *keys) begin(now time.Time) *flight {
	f := &flight{done: make(chan struct{})}
	k.flight, k.tried = f, now
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), k.limit)
		defer cancel()
		all, err := k.fetch(ctx)
		k.mu.Lock()
		defer k.mu.Unlock()
		if err == nil {
			k.byID, k.fetched = all, k.now()
		}
		k.flight, k.failed, k.tried, f.err = nil, err, k.now(), err
		close(f.done)
	}()
	return f
}

func (k *keys) fetch(ctx context.Context) (map[string]key, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/jwk-set+json, application/json")
	answer, err := k.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s", answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > mostBytes:
		return nil, fmt.Errorf("it answers with more than %d bytes", mostBytes)
	}
	return readKeys(text)
}

// readKeys keeps the keys that can sign tokens. A set may have others, for
// encryption or of other kinds; they are left out.
func readKeys(text []byte) (map[string]key, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("it is no key set: %w", err)
	}
	if len(set.Keys) > mostKeys {
		return nil, fmt.Errorf("it has %d keys, and %d are the most", len(set.Keys), mostKeys)
	}
	all := map[string]key{}
	for _, raw := range set.Keys {
		var m jwkset.JWKMarshal
		if json.Unmarshal(raw, &m) != nil || m.USE == jwkset.UseEnc {
			continue
		}
		m.X5U, m.X5C, m.X5T, m.X5TS256 = "", nil, "", "" // the key is trusted because of its address, not its certificates
		parsed, err := jwkset.NewJWKFromMarshal(m, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
		if err != nil {
			continue
		}
		algorithm := algorithmOf(parsed.Key())
		if _, twice := all[m.KID]; algorithm == "" || twice || m.ALG != "" && m.ALG.String() != algorithm {
			continue
		}
		all[m.KID] = key{parsed.Key(), algorithm}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("it has no key for %s", strings.Join(algorithms, ", "))
	}
	return all, nil
}

// algorithmOf is the algorithm of a key; "" if it is of a kind that is not used.
func algorithmOf(public any) string {
	switch p := public.(type) {
	case *rsa.PublicKey:
		if p.N.BitLen() >= leastRSA {
			return jwt.SigningMethodRS256.Alg()
		}
	case *ecdsa.PublicKey:
		if p.Curve == elliptic.P256() {
			return jwt.SigningMethodES256.Alg()
		}
	case ed25519.PublicKey:
		return jwt.SigningMethodEdDSA.Alg()
	}
	return ""
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
