package backend

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"
)

// A RedisAddress is where a Redis is and how to log in to it.
type RedisAddress struct {
	Host     string // host:port
	User     string // empty: Redis' default user
	Password string // empty: none is needed
}

// ParseRedis reads host:port or redis://[user]:password@host:port. Anything else
// a Redis URL can contain (a database, options such as max_retries, TLS) is an
// error: the service decides it. The error does not repeat the password.
func ParseRedis(address string) (a RedisAddress, err error) {
	address = strings.TrimSpace(address)
	if !strings.Contains(address, "://") {
		if strings.Contains(address, "@") {
			return a, wrongRedis(address, "a password needs the form redis://:password@host:port")
		}
		return RedisAddress{Host: address}, nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil: // it repeats the address
		return a, wrongRedis(address, "it is no URL (write %40 for @, %2F for / and %2C for a comma in the password)")
	case u.Scheme != "redis":
		return a, wrongRedis(address, "only redis:// is supported, without TLS")
	case u.Hostname() == "":
		return a, wrongRedis(address, "the host is missing")
	case strings.Trim(u.Path, "/") != "", u.RawQuery != "", u.Fragment != "":
		return a, wrongRedis(address, "database numbers and options are not supported")
	}
	a.Host, a.User = u.Host, u.User.Username()
	if u.Port() == "" {
		a.Host += ":6379"
	}
	a.Password, _ = u.User.Password()
	if a.User != "" && a.Password == "" {
		return a, wrongRedis(address, "a user without a password cannot log in: redis://user:password@host:port")
	}
	return a, nil
}

// wrongRedis shows only what follows the credentials. A URL without an @ may be
// half of one that was split at a comma in its password.
func wrongRedis(address, why string) error {
	if at := strings.LastIndexByte(address, '@'); at >= 0 {
		address = "…" + address[at:]
	} else if scheme, _, is := strings.Cut(address, "://"); is {
		address = scheme + "://…"
	}
	return fmt.Errorf("the Redis address %q: %s", address, why)
}

// String is what ParseRedis reads.
func (a RedisAddress) String() string {
	if a.User == "" && a.Password == "" {
		return a.Host
	}
	return (&url.URL{Scheme: "redis", User: url.UserPassword(a.User, a.Password), Host: a.Host}).String()
}

// Options has the address and the credentials only.
func (a RedisAddress) Options() *redis.Options {
	return &redis.Options{Addr: a.Host, Username: a.User, Password: a.Password}
}

// parseRedisList reads one address or several that belong together. A Cluster's
// nodes announce each other's addresses without passwords, so all must have the
// same login.
func parseRedisList(addresses []string) (hosts []string, login RedisAddress, err error) {
	for i, address := range addresses {
		a, err := ParseRedis(address)
		if err != nil {
			return nil, login, err
		}
		hosts = append(hosts, a.Host)
		a.Host = ""
		if i > 0 && a != login {
			return nil, login, errors.New("the Redis addresses of a Cluster, of its sentinels or of a ring must have the same user and password")
		}
		login = a
	}
	return hosts, login, nil
}

var credentialsOfURL = regexp.MustCompile(`((?:^|[\s,=])(?:rediss?|https?)://)[^\s,]*@`)

// Redact hides passwords: the credentials of every Redis and HTTP URL in text, and the
// password of a MySQL address.
func Redact(text string) string {
	if redacted := credentialsOfURL.ReplaceAllString(text, "$1"); redacted != text {
		return redacted
	}
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return text
	}
	user, _, _ := strings.Cut(text[:at], ":")
	return user + text[at:]
}

// ShowAddresses lists addresses without passwords.
func ShowAddresses(addresses []string) string {
	hosts := make([]string, len(addresses))
	for i, address := range addresses {
		hosts[i] = strings.Replace(Redact(address), "redis://", "", 1)
	}
	return strings.Join(hosts, ",")
}
