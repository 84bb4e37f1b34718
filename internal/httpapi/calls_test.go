package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/point"
	"seckill/internal/seckill"
)

// The files of testdata/calls have calls and their answers, one a line:
//
//	METHOD PATH [Header: value]... BODY => STATUS [Header: value]... ANSWER
//
// ANSWER is JSON, whose members the answer must have among others; null: it must not.
// "$name" stands for a text, the same wherever it is named, also in later calls; "1..9"
// for a number. Of a problem, ANSWER may be its code and the field that is blamed, and
// behind a colon a part of the detail. «x*9» is x nine times. "sql " begins a statement
// for the database.
func TestCalls(t *testing.T) {
	server := labtest.Instance(t, backend.SQL, backend.RowLocks, backend.Redis)
	migrate(t, server)
	reached := 0
	f := sells()
	sell := f.deduct
	f.deduct = func(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
		reached++
		return sell(ctx, p)
	}
	broken := catalog.Info{Name: "broken", New: func(catalog.Deps) (seckill.Strategy, error) { return f, errors.New("no") }}
	for name, s := range map[string]*httpapi.Server{
		"refusals":     serverWith(t, f, httpapi.Config{Points: &point.Points{}, Infos: []catalog.Info{broken}}),
		"sale":         serverWith(t, nil, httpapi.Config{}),
		"reservations": serverWith(t, nil, httpapi.Config{Instance: server}),
		"counter":      serverWith(t, nil, httpapi.Config{Instance: server, Points: &point.Points{}}),
		"accepted":     serverWith(t, nil, httpapi.Config{Instance: labtest.Instance(t, backend.SQL, backend.RowLocks, backend.Redis)}), // its own claims
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile("testdata/calls/" + name + ".txt")
			labtest.Must(t, err)
			c := calls{T: t, server: s, names: map[string]string{}}
			for line := range strings.Lines(string(text)) {
				if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
					c.run(line)
				}
			}
			if name == "refusals" && reached != c.sold {
				t.Errorf("%d purchases reached the strategy, %d were answered", reached, c.sold)
			}
		})
	}
}

type calls struct {
	*testing.T
	server *httpapi.Server
	names  map[string]string // what "$name" stands for
	sold   int               // purchases that were answered with 200
}

var (
	repeated = regexp.MustCompile(`«(.)\*(\d+)»`)
	named    = regexp.MustCompile(`\$\w+`)
	headed   = regexp.MustCompile(`^ *\[([A-Z][A-Za-z-]*: [^\]]*)\]`)
)

func (c *calls) run(line string) {
	if statement, is := strings.CutPrefix(line, "sql "); is {
		if err := c.server.Instance.DB.Exec(statement).Error; err != nil {
			c.Fatalf("%s: %v", statement, err)
		}
		return
	}
	asked, wanted, ok := strings.Cut(line, " => ")
	method, rest, _ := strings.Cut(asked, " ")
	path, rest, _ := strings.Cut(c.expand(rest), " ")
	headers, body := headersOf(rest)
	status, rest, _ := strings.Cut(wanted, " ")
	wants, answer := headersOf(rest)
	if want, err := strconv.Atoi(status); !ok || err != nil {
		c.Fatalf("no call and answer: %s", line)
	} else {
		r := c.ask(method, path, body, headers)
		if method == "POST" && strings.HasPrefix(path, "/api/v1/seckill") && r.status == http.StatusOK {
			c.sold++
		}
		if wrong := c.compare(r, want, wants, answer); wrong != "" {
			c.Errorf("%.200s\nanswered %d %v %s\n%s", line, r.status, r.header, r.body, wrong)
		}
	}
}

// expand writes out what stands for something else.
func (c *calls) expand(text string) string {
	text = named.ReplaceAllStringFunc(text, func(name string) string { return c.names[name] })
	return repeated.ReplaceAllStringFunc(text, func(of string) string {
		parts := repeated.FindStringSubmatch(of)
		n, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], n)
	})
}

func headersOf(text string) (headers []string, rest string) {
	for {
		found := headed.FindStringSubmatch(text)
		if found == nil {
			return headers, strings.TrimSpace(text)
		}
		headers, text = append(headers, found[1]), text[len(found[0]):]
	}
}

func (c *calls) ask(method, path, body string, headers []string) reply {
	c.Helper()
	if strings.HasPrefix(path, "/admin/") {
		return handled(c, c.server.AdminHandler(), newRequest(method, path, body, headers...))
	}
	return ask(c, c.server, method, path, body, headers...)
}

// compare returns the differences between an answer and the wanted one.
func (c *calls) compare(r reply, status int, headers []string, answer string) string {
	if r.status != status {
		return fmt.Sprintf("want %d", status)
	}
	for _, h := range headers {
		if name, value, _ := strings.Cut(h, ": "); r.header.Get(name) != value {
			return "want " + h
		}
	}
	if !strings.HasPrefix(answer, "{") {
		blamed, detail, _ := strings.Cut(answer, ": ")
		code, field, _ := strings.Cut(blamed, " ")
		if r.Code != code || !strings.Contains(r.Detail, detail) {
			return fmt.Sprintf("want %q with %q in its detail", code, detail)
		}
		if field != "" && (len(r.Errors) != 1 || r.Errors[0].Field != field || !strings.Contains(r.Detail, field)) {
			return fmt.Sprintf("want it to blame %q", field)
		}
		return ""
	}
	var got, want any
	if err := json.Unmarshal([]byte(answer), &want); err != nil {
		c.Fatalf("%v: %s", err, answer)
	}
	if err := json.Unmarshal(r.body, &got); err != nil {
		return err.Error()
	}
	return c.has(got, want)
}

// has says what got lacks of want.
func (c *calls) has(got, want any) string {
	switch wants := want.(type) {
	case map[string]any:
		members, _ := got.(map[string]any)
		for name, value := range wants {
			if lacks := c.has(members[name], value); lacks != "" {
				return name + ": " + lacks
			}
		}
		return ""
	case []any:
		list, _ := got.([]any)
		if list == nil || len(list) != len(wants) {
			return fmt.Sprintf("want a list of %d", len(wants))
		}
		for i := range wants {
			if lacks := c.has(list[i], wants[i]); lacks != "" {
				return fmt.Sprintf("%d: %s", i, lacks)
			}
		}
		return ""
	case string:
		if n, is := got.(float64); is {
			from, to, _ := strings.Cut(wants, "..")
			low, _ := strconv.ParseFloat(from, 64)
			high, _ := strconv.ParseFloat(to, 64)
			if low <= n && n <= high {
				return ""
			}
		}
		if text, is := got.(string); is && text != "" && named.MatchString(wants) {
			if c.names[wants] == "" {
				c.names[wants] = text
			}
			want = c.names[wants]
		}
	}
	if got != want {
		return fmt.Sprintf("want %v", want)
	}
	return ""
}
