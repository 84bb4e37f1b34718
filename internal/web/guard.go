package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Bearer returns the token of the Authorization header, or "". The case of the scheme does not
// matter (RFC 9110). It returns "" for two headers, because a proxy may have checked the other one.
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

// SameToken compares tokens in constant time for all lengths. An empty token matches nothing.
func SameToken(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && want != ""
}

// NotLocal returns why a request may come from another machine, or "". The peer's address is not
// enough: requests that a reverse proxy on this machine forwards come from 127.0.0.1, too. A proxy
// shows by its headers, by the Host of its site, or by HTTP/1.0, the default of nginx. A proxy that
// forwards bytes (ssh -R) does not show; a service behind one needs a token.
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

// ForeignPage returns a description of the page of another site that makes the request, or "".
// Programs other than browsers send neither header.
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

// IsSafe reports whether a method changes nothing.
func IsSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// Peer returns the address in host:port, or the zero Addr if there is none.
func Peer(hostport string) netip.Addr {
	ap, err := netip.ParseAddrPort(hostport)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// Hostname returns host or host:port without the port and the brackets.
func Hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}
