package httpapi_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"seckill/internal/httpapi"
)

// A header and a body that are too large are refused.
func TestLargeRequests(t *testing.T) {
	s := serve(t, sells(), httpapi.Config{})
	for what, c := range map[string]struct {
		request string
		status  string
	}{
		"a header": {"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", "431"},
		"a body": {"POST /api/v1/seckill HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n" +
			strings.Repeat(" ", 20<<10), "413"},
	} {
		c2, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c2.Close()
		go io.WriteString(c2, c.request) // the server may not read all of it
		c2.SetReadDeadline(time.Now().Add(20 * time.Second))
		line, err := bufio.NewReader(c2).ReadString('\n')
		if !strings.Contains(line, " "+c.status+" ") {
			t.Errorf("%s: answered %q, %v; want %s", what, line, err, c.status)
		}
	}
}
