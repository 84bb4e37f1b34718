package compare

import (
	"fmt"
	"html/template"
	"regexp"
)

// Languages that the HTML report is written in.
var Languages = []string{"en", "zh"}

// A tongue words the report: English sentences and formats in another language.
// nil leaves them as they are.
type tongue map[string]string

func tongueOf(language string) tongue {
	if language == "zh" {
		return chinese
	}
	return nil
}

// tag is the language for HTML.
func (in tongue) tag() string {
	if in == nil {
		return "en"
	}
	return "zh-CN"
}

func (in tongue) say(text string) string {
	if said, ok := in[text]; ok {
		return said
	}
	return text
}

// sayf takes the arguments in the order of the English format; a Chinese one may
// number them.
func (in tongue) sayf(format string, args ...any) string { return fmt.Sprintf(in.say(format), args...) }

// reasons why something was not measured.
var reasons = []struct {
	pattern *regexp.Regexp
	words   string
}{
	{regexp.MustCompile(`^no SQL database is configured: give (.+) or (.+)$`), "没有配置 SQL 数据库：请加 $1 或 $2"},
	{regexp.MustCompile(`^no (.+) is configured: install one \(seckill doctor says how\), or give (.+)$`), "没有配置 $1：请安装（做法见 seckill doctor），或者加 $2"},
	{regexp.MustCompile(`^no (.+) is configured: install one \(seckill doctor says how\)$`), "没有配置 $1：请安装（做法见 seckill doctor）"},
	{regexp.MustCompile(`^there is no embedded engine for it: start the lab without --embedded$`), "它没有内嵌的替代：启动实验室时去掉 --embedded"},
	{regexp.MustCompile(`^no (Redis|MySQL) is known$`), "没有 $1"},
}

// why says why something was not measured; a server's own words are marked as
// English.
func (in tongue) why(text string) template.HTML {
	if in == nil {
		return template.HTML(template.HTMLEscapeString(text))
	}
	for _, r := range reasons {
		if r.pattern.MatchString(text) {
			return template.HTML(template.HTMLEscapeString(r.pattern.ReplaceAllString(text, r.words)))
		}
	}
	return template.HTML(`<span lang="en">` + template.HTMLEscapeString(text) + `</span>`)
}
