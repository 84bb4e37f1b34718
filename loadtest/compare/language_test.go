package compare

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/web"
)

// What is left of a page when markup, names, commands and what is marked as
// English are taken away.
var (
	notChinese = regexp.MustCompile(`(?s)<style>.*?</style>|<code>.*?</code>|<(\w+)[^>]* lang="en"[^>]*>.*?</(?:span|p|td)>|<h3>.*?</h3>` +
		`|<th scope="row".*?</th>|<div class="name.*?</div>|aria-label="[^"]*"`)
	markup       = regexp.MustCompile(`<[^>]*>`)
	twoEnglish   = regexp.MustCompile(`\b[A-Za-z]{3,}[,:;]? [A-Za-z]{2,}[^\n]*`)
	anyChinese   = regexp.MustCompile(`\p{Han}`)
	proper       = regexp.MustCompile(`seckill compare, long ago|seckill(?: prove)?|naive, version[^\n]*|(?:mysql|redis) \w+=\w+|Redis INCR`)
	measuredCell = regexp.MustCompile(`<td class="measured"[^>]*>([^<]*)</td>`)
	tooltip      = regexp.MustCompile(` title="([^"]*)"`)
	lettersOnly  = regexp.MustCompile(`[A-Za-z]{3,}`)
)

// The report in Chinese is Chinese, and says so; the English one has none of it.
func TestReportSpeaks(t *testing.T) {
	r := fixed(t)
	for _, v := range []string{"lost_update", "undersold"} {
		r.Strategies[4].Violations = append(r.Strategies[4].Violations, Violation{Rule: v, Rounds: 1})
	}
	r.Interrupted, r.Command = true, "seckill compare"
	matrix := proven(t)
	for _, row := range matrix.Rows { // each has its cells in the report
		if r.Entry(row.Strategy) == nil {
			r.Strategies = append(r.Strategies, &Entry{Strategy: row.Strategy, Verdict: ledger.Held, Expected: true})
		}
	}
	titles := func(string) string { return "标题" }
	for _, language := range Languages {
		var page bytes.Buffer
		said, err := measure.ReadSentences(web.Files(), language)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.WriteHTML(&page, HTML{Matrix: matrix, Language: language, Title: titles, Proof: said}); err != nil {
			t.Fatal(err)
		}
		text := markup.ReplaceAllString(notChinese.ReplaceAllString(page.String(), " "), "\n")
		text = proper.ReplaceAllString(text, "")
		if language == "en" {
			if said := strings.ReplaceAll(text, "标题", ""); !strings.Contains(page.String(), `<html lang="en">`) || anyChinese.MatchString(said) {
				t.Errorf("the English report is Chinese:\n%s", said)
			}
			continue
		}
		if !strings.Contains(page.String(), `<html lang="zh-CN">`) {
			t.Error("the Chinese report says that it is in another language")
		}
		if left := twoEnglish.FindAllString(text, -1); len(left) > 0 {
			t.Errorf("not in Chinese:\n%s", strings.Join(left, "\n"))
		}
		for _, cell := range measuredCell.FindAllStringSubmatch(page.String(), -1) {
			if word := lettersOnly.FindString(cell[1]); word != "" {
				t.Errorf("a measured cell is not in Chinese: %s", cell[0])
			}
		}
		for _, tip := range tooltip.FindAllStringSubmatch(page.String(), -1) {
			if twoEnglish.MatchString(tip[1]) {
				t.Errorf("a tooltip is not in Chinese: %s", tip[1])
			}
		}
		for _, want := range []string{"conditional 是 for-update 的 4.00 倍（4.00–4.00）", "分不出快慢", "服务 CPU 毫秒", "多卖了 10 件，", "提前停止", "没有配置 ZooKeeper", "并发 2 → ",
			"按先后", "无队列"} {
			if !strings.Contains(text, want) {
				t.Errorf("the Chinese report does not say %q", want)
			}
		}
	}
}

// proven is the matrix that the program has.
func proven(t *testing.T) *measure.Matrix {
	t.Helper()
	f, err := web.Guarantees().Open("matrix.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := measure.ReadMatrix(f)
	if err != nil || len(m.Rows) < 60 {
		t.Fatalf("%d rows: %v", len(m.Rows), err)
	}
	return m
}

// A translation takes the arguments of its original.
func TestTranslationsFit(t *testing.T) {
	verb := regexp.MustCompile(`%(?:\[\d\])?[sdg]`)
	for english, said := range chinese {
		if a, b := len(verb.FindAllString(english, -1)), len(verb.FindAllString(said, -1)); a != b {
			t.Errorf("%q takes %d arguments, %q takes %d", english, a, said, b)
		}
		if !anyChinese.MatchString(said) && lettersOnly.MatchString(proper.ReplaceAllString(said, "")) {
			t.Errorf("%q is %q in Chinese", english, said)
		}
	}
}
