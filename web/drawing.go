package web

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// The diagram's modules, in a page that has no server: what they take from the
// rest of the page is here in its place. Such pages are in English.
var standsIn = map[string]string{
	"preferences.js": "export const preferences = () => ({ language: 'en', theme: 'auto', type: 'normal' });",
	"ui.js": "export const count = (n) => new Intl.NumberFormat('en').format(Math.round(n)).replace('-', '−');\n" +
		"export const plural = (n, one, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;\nexport const ms = (n) => (n < 10 ? n.toFixed(1) : count(n)) + ' ms';",
	"text.js":                     "import t from './text/en.js';\nexport { t };",
	"trace/text/zh.js":            "export default {};",
	"guarantees/text/proof.zh.js": "export default {};",
}

var fromModule = regexp.MustCompile(`(?m)^(import|export) (.*?)'(\.[^']+)';$`)

// Drawing is the markup that draws counterexamples in a page that stands alone:
// the very modules of the page's diagram, as data. It draws each <details
// class="example"> that has the counterexample's JSON in a <script> and a
// <div class="drawing">.
func Drawing() (template.HTML, error) {
	const entry = "trace/report.js"
	modules, next := map[string]string{}, []string{entry}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		if _, known := modules[bare(name)]; known {
			continue
		}
		source, standIn := standsIn[name]
		if !standIn {
			file, err := fs.ReadFile(Files(), name)
			if err != nil {
				return "", fmt.Errorf("the diagram's modules: %w", err)
			}
			source = string(file)
		}
		source = fromModule.ReplaceAllStringFunc(source, func(line string) string {
			m := fromModule.FindStringSubmatch(line)
			other := path.Join(path.Dir(name), m[3])
			next = append(next, other)
			return m[1] + " " + m[2] + "'" + bare(other) + "';"
		})
		modules[bare(name)] = "data:text/javascript;base64," + base64.StdEncoding.EncodeToString([]byte(source))
	}
	imports, err := json.Marshal(map[string]any{"imports": modules}) // escapes what HTML could take for markup
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<script type=\"importmap\">%s</script>\n<script type=\"module\">import %q;</script>\n", imports, bare(entry))
	return template.HTML(b.String()), nil
}

func bare(name string) string { return "seckill/" + name }
