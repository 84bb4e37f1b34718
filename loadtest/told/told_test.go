package told

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"seckill/internal/ledger"
)

const setLine = `{"sku_id":1,"stock":10,"run":3,"strategy":"conditional"}` + "\n"

func TestReadTold(t *testing.T) {
	sales, err := Read(strings.NewReader(setLine + `
{"request_id":"a","user_id":1,"quantity":2,"outcome":"sold","order_id":"o","remaining":8,"sent_at":"2026-11-11T00:00:00.5Z","answered_at":"2026-11-11T08:00:00.6+08:00"}
{"call":"cancel","user_id":1,"order_id":"o","outcome":"cancelled","sent_at":"2026-11-11T00:00:01Z"}
{"sku_id":2,"stock":0}
{"call":"buy","sku_id":2,"request_id":"b","user_id":2,"quantity":1,"outcome":"sold_out"}`))
	if err != nil {
		t.Fatal(err)
	}
	one, two := sales[0], sales[1]
	if one.SKU != 1 || one.Stock != 10 || one.Run != 3 || one.Strategy != "conditional" || len(one.Told) != 2 || two.SKU != 2 || two.Run != 0 || len(two.Told) != 1 {
		t.Fatalf("%+v, %+v", one, two)
	}
	bought, back := one.Told[0], one.Told[1]
	if bought.Sent <= 0 || bought.Answered-bought.Sent != 100*time.Millisecond || back.Sent-bought.Sent != 500*time.Millisecond || back.Answered != 0 ||
		bought.Call != ledger.CallBuy || back.Call != ledger.CallCancel || bought.Remaining != 8 || two.Told[0].Sent != 0 {
		t.Errorf("%+v, %+v, %+v", bought, back, two.Told[0])
	}
}

// What is wrong is named, with its line.
func TestReadToldNamesTheLine(t *testing.T) {
	buy := `{"request_id":"a","user_id":1,"quantity":2,"outcome":"busy"}` + "\n"
	for _, test := range []struct{ file, want string }{
		{"", "no line at all"},
		{buy, `line 1: the first line must say what was set`},
		{"{\"sku_id\":1,\"stock\":-1}", `line 1: "stock"`},
		{"{\"stock\":1}", `line 1: "sku_id"`},
		{`{"sku_id":1,"stock":1,"run":0}`, `line 1: "run"`},
		{setLine + setLine, "line 2: SKU 1 was set"},
		{setLine + buy + "{", "line 3: "},
		{setLine + "[]", "line 2: "},
		{setLine + buy + buy + `{"request":"a"}`, `line 4: json: unknown field "request"`},
		{setLine + strings.TrimSpace(buy) + buy, "line 2: there is text after"},
		{setLine + strings.Replace(buy, "busy", "great", 1), `line 2: "outcome" is "great"`},
		{setLine + strings.Replace(buy, "busy", "sold", 1), `line 2: a sale needs`},
		{setLine + strings.Replace(buy, "busy", "cancelled", 1), `line 2: a purchase is not told`},
		{setLine + strings.Replace(buy, `"user_id":1,`, "", 1), `line 2: "user_id"`},
		{setLine + strings.Replace(buy, `"a"`, `""`, 1), `line 2: "request_id"`},
		{setLine + strings.Replace(buy, "2", "0", 1), `line 2: "quantity"`},
		{setLine + strings.Replace(buy, "2", "2e99", 1), `line 2: `},
		{setLine + strings.Replace(buy, "{", `{"sku_id":9,`, 1), `line 2: no line before says`},
		{setLine + strings.Replace(buy, "{", `{"call":"sell",`, 1), `line 2: "call" is "sell"`},
		{setLine + strings.Replace(buy, "{", `{"run":3,`, 1), `line 2: "run" and`},
		{setLine + `{"call":"cancel","user_id":1,"outcome":"cancelled"}`, `line 2: a call to cancel needs`},
		{setLine + strings.Replace(buy, "{", `{"sent_at":"noon",`, 1), `line 2: `},
		{setLine + strings.Replace(buy, "{", `{"answered_at":"2026-11-11T00:00:00Z",`, 1), `line 2: "answered_at" without`},
		{setLine + strings.Replace(buy, "{", `{"sent_at":"2026-11-11T00:00:01Z","answered_at":"2026-11-11T00:00:00Z",`, 1), `line 2: "answered_at" is before`},
		{setLine + strings.Repeat(" ", longestLine+1), "line 2 is longer than"},
	} {
		if _, err := Read(strings.NewReader(test.file)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.200q: %v, want %s", test.file, err, test.want)
		}
	}
}

// The lines that the k6 example writes, made by node from answers as k6 has them.
func TestLinesOfTheK6Example(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node was not found; run: seckill deps --tests")
	}
	script := `import { readFileSync } from 'node:fs';
const { told } = await import('data:text/javascript,' + encodeURIComponent(readFileSync('../examples/k6/told.js', 'utf8')));
console.log(JSON.stringify({ sku_id: 1, stock: 10, strategy: 'conditional' }));
const answers = [[200, {order_id: 'o', remaining: 3}], [409, {code: 'sold_out'}], [409, {code: 'in_progress'}], [429, {code: 'rate_limited'}],
  [400, {code: 'invalid'}], [504, {code: 'unknown_outcome'}], [503, {code: 'backend_unavailable'}], [0, null], [502, '<html>']];
for (const [i, [status, body]] of answers.entries()) {
  const text = body === null ? null : typeof body === 'string' ? body : JSON.stringify(body);
  console.log(JSON.stringify(told({ request_id: 'k' + i, user_id: i + 1, sku_id: 1, quantity: 1 }, new Date(),
    { status, body: text, timings: { duration: 12.3 } })));
}`
	cmd := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", script)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sales, err := Read(strings.NewReader(string(out)))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, out)
	}
	var got []string
	for _, call := range sales[0].Told {
		got = append(got, string(call.Outcome))
	}
	if said := strings.Join(got, " "); said != "sold sold_out in_progress busy error unknown error unknown unknown" {
		t.Errorf("%s from:\n%s", said, out)
	}
}
