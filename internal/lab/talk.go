package lab

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

// talk asks one question over a connection of its own, and is over when ctx
// is.
func talk(ctx context.Context, addr, question string, read func(*bufio.Reader) (string, error)) (string, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := io.WriteString(conn, question); err != nil {
		return "", err
	}
	return read(bufio.NewReader(conn))
}

func readAll(r *bufio.Reader) (string, error) {
	all, err := io.ReadAll(r)
	return string(all), err
}

// client leaves no connection open, which a stopped server would wait for.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
