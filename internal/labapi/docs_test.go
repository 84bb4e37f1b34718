package labapi

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"seckill/internal/game"
)

// The documentation lists the calls that there are.
func TestCallsOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/http.md")
	must(t, err)
	_, lab, found := strings.Cut(string(text), "\n## The lab, under `/api/lab/v1`\n")
	if !found {
		t.Fatal("docs/http.md has no section on the lab")
	}
	lab, _, _ = strings.Cut(lab, "\n## ")
	var said []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*`) \\|").FindAllStringSubmatch(lab, -1) {
		// "`GET`, `POST /runs`; `GET /runs/ID`": methods without a path share the next one.
		for _, calls := range strings.Split(row[1], ";") {
			var methods []string
			for _, code := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(calls, -1) {
				method, path, complete := strings.Cut(code[1], " ")
				if !strings.HasPrefix(code[1], "{") {
					methods = append(methods, method)
				}
				if complete && strings.HasPrefix(path, "/") {
					path, _, _ = strings.Cut(path, "?")
					for _, method := range methods {
						said = append(said, method+" "+strings.ReplaceAll(path, "ID", ":id"))
					}
					methods = nil
				}
			}
		}
	}
	server, _, _ := start(t, func(c *Config) { c.Games = &game.Games{} })
	var there []string
	for _, r := range server.router.Routes() {
		if path, ofLab := strings.CutPrefix(r.Path, "/api/lab/v1"); ofLab && path != "/status" && path != "/events" { // in the sentence above the table
			there = append(there, r.Method+" "+path)
		}
	}
	slices.Sort(said)
	slices.Sort(there)
	if !slices.Equal(said, there) {
		t.Errorf("docs/http.md lists\n%s\nand there are\n%s", strings.Join(said, "\n"), strings.Join(there, "\n"))
	}
}
