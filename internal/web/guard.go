package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Bearer returns the token of the Authorization header, or "". The case of the scheme does not matter (RFC 9110). If
// there are two such headers, Bearer returns "", because a proxy may have checked only one of them.
func Bearer(r *http.Request) string {
	given := r.Header["Authorization"]
	if len(given) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimLeft(token, " ")
}

// SameToken compares two tokens in a time that does not depend on their contents. An empty token never matches.
func SameToken(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && want != ""
}

// NotLocal returns why a request may come from another machine, or "" if it comes from this one. The
// peer's address is not enough, because a reverse proxy on this machine also connects from 127.0.0.1.
// NotLocal recognizes such a proxy by its headers, by the Host of its site, or by HTTP/1.0, the
// default of nginx. It cannot recognize a proxy that only forwards bytes (ssh -R). Behind one, set a token.
func NotLocal(r *http.Request) string {
	if !Peer(r.RemoteAddr).IsLoopback() {
		return "this call comes from another one"
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Forwarded-") || name == "Forwarded" || name == "Via" || name == "X-Real-Ip" {
			return "this call comes through a proxy (" + name + ")"
		}
	}
	if !r.ProtoAtLeast(1, 1) {
		return "this call seems to come through a proxy (HTTP/1.0)"
	}
	name := Hostname(r.Host)
	if ip, err := netip.ParseAddr(name); strings.EqualFold(name, "localhost") || err == nil && ip.Unmap().IsLoopback() {
		return ""
	}
	return "this call is addressed to " + name
}

// ForeignPage describes the page of another site that makes the request. It returns "" for our own
// pages, and for programs that are not browsers, because they send neither Origin nor Sec-Fetch-Site.
func ForeignPage(r *http.Request) string {
	if origin := r.Header.Get("Origin"); origin != "" &&
		strings.TrimPrefix(strings.TrimPrefix(origin, "http://"), "https://") != r.Host {
		return "A page of " + origin
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return "Another site's page"
	}
	return ""
}

// IsSafe reports whether requests with this method change nothing.
func IsSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// Peer returns the address in hostport. It returns the zero Addr if hostport has no address.
func Peer(hostport string) netip.Addr {
	ap, err := netip.ParseAddrPort(hostport)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// Hostname returns a host without its port and without brackets. The argument hostport is host or host:port.
func Hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}
