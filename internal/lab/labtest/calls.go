package labtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Calls makes the HTTP calls of a file, and compares each answer with the wanted answer in the
// file. A line of the file is one call:
//
//	METHOD PATH [Header: value]... BODY => STATUS [Header: value]... ANSWER
//
// ANSWER is JSON. The real answer must have all members of ANSWER, except those whose value is null, and may have more
// members. A member with the value null must be missing. "$name" stands for any text, but every "$name" in the file
// stands for the same text. "1..9" stands for a number from 1 to 9. A list that ends with "…" may be longer. If ANSWER
// is in quotes, the real answer must contain the quoted text. If the real answer is a problem, ANSWER can be its code,
// the field at fault, a colon and a part of its detail. «x*9» stands for nine times x. A line that begins with "sql "
// is a statement for the database. A line that begins with # is a comment.
type Calls struct {
	testing.TB
	Ask func(method, path, body string, headers []string) Answer
	SQL func(statement string) error // nil if the file has no statements

	names map[string]string // the text for which each "$name" stands
}

// An Answer is the answer to an HTTP call.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Run makes the calls of a file.
func (c *Calls) Run(file string) {
	c.Helper()
	text := Value(os.ReadFile(file)).Must(c)
	if c.names == nil {
		c.names = map[string]string{}
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			c.call(line)
		}
	}
}

var (
	repeated = regexp.MustCompile(`«(.)\*(\d+)»`)
	named    = regexp.MustCompile(`\$\w+`)
	headed   = regexp.MustCompile(`^ *\[([A-Z][A-Za-z-]*: [^\]]*)\]`)
)

func (c *Calls) call(line string) {
	if statement, is := strings.CutPrefix(line, "sql "); is {
		if err := c.SQL(statement); err != nil {
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
	want, err := strconv.Atoi(status)
	if !ok || err != nil {
		c.Fatalf("no call and answer: %s", line)
	}
	a := c.Ask(method, path, body, headers)
	if wrong := c.compare(a, want, wants, answer); wrong != "" {
		c.Errorf("%.200s\nanswered %d %v %s\n%s", line, a.Status, a.Header, a.Body, wrong)
	}
}

// expand replaces each $name and each repetition, such as «x*9», by the text for which it stands.
func (c *Calls) expand(text string) string {
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

// compare describes how an answer differs from the wanted answer; "" if it does not differ.
func (c *Calls) compare(a Answer, status int, headers []string, answer string) string {
	if a.Status != status {
		return fmt.Sprintf("want %d", status)
	}
	for _, h := range headers {
		if name, value, _ := strings.Cut(h, ": "); a.Header.Get(name) != value {
			return "want " + h
		}
	}
	if text, quoted := strings.CutPrefix(answer, `"`); quoted {
		if !strings.Contains(string(a.Body), strings.TrimSuffix(text, `"`)) {
			return "want " + answer
		}
		return ""
	}
	if !strings.HasPrefix(answer, "{") {
		return compareProblem(a, answer)
	}
	var got, want any
	if err := json.Unmarshal([]byte(answer), &want); err != nil {
		c.Fatalf("%v: %s", err, answer)
	}
	if err := json.Unmarshal(a.Body, &got); err != nil {
		return err.Error()
	}
	return c.lacks(got, want)
}

// compareProblem describes how an answer differs from the wanted problem; "" if it does not differ. The wanted problem
// has the form "CODE FIELD: DETAIL". FIELD is the field at fault. DETAIL is a part of the problem's detail. FIELD and
// ": DETAIL" may be missing.
func compareProblem(a Answer, wanted string) string {
	var p struct {
		Code, Detail string
		Errors       []struct{ Field, Code string }
	}
	_ = json.Unmarshal(a.Body, &p) // if the body is not JSON, p stays empty and differs from the wanted problem
	blamed, detail, _ := strings.Cut(wanted, ": ")
	code, field, _ := strings.Cut(blamed, " ")
	if p.Code != code || !strings.Contains(p.Detail, detail) {
		return fmt.Sprintf("want %q with %q in its detail", code, detail)
	}
	if field != "" && (len(p.Errors) != 1 || p.Errors[0].Field != field || !strings.Contains(p.Detail, field)) {
		return fmt.Sprintf("want it to blame %q", field)
	}
	return ""
}

// lacks describes which part of the wanted value is missing in the value got; "" if nothing is missing.
func (c *Calls) lacks(got, want any) string {
	switch wants := want.(type) {
	case map[string]any:
		members, _ := got.(map[string]any)
		for name, value := range wants {
			if missing := c.lacks(members[name], value); missing != "" {
				return name + ": " + missing
			}
		}
		return ""
	case []any:
		list, _ := got.([]any)
		if last := len(wants) - 1; last >= 0 && wants[last] == "…" {
			wants = wants[:last]
			list = list[:min(len(list), last)]
		}
		if list == nil || len(list) != len(wants) {
			return fmt.Sprintf("want a list of %d", len(wants))
		}
		for i := range wants {
			if missing := c.lacks(list[i], wants[i]); missing != "" {
				return fmt.Sprintf("%d: %s", i, missing)
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
