package prove_test

import (
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
)

// What came out otherwise on other servers is kept and shown, and nothing else:
// how far a search got is no difference.
func TestOnlyDifferencesAreKept(t *testing.T) {
	m, other := byHand(), byHand()
	other.Rows[1].Cells["oversell"] = prove.Cell{Answer: prove.Holds, Schedules: 7}
	other.Rows[0].Cells["waits"] = prove.Cell{Answer: prove.Measured, Text: "polls; 2 commands"}
	m.Add("MySQL 9", other)
	if d := m.Also[0].Differs; len(d) != 0 || m.Also[0].Asked["naive"] != 3 || m.Also[0].Asked["redis-lua"] != 3 {
		t.Errorf("%v asked, and these differ: %+v", m.Also[0].Asked, d)
	}
	other.Rows[1].Cells["oversell"] = prove.Cell{Answer: prove.Breaks, Text: "3 of 2", Schedules: 7}
	m.Add("MySQL 9", other)
	if len(m.Also) != 1 || m.Also[0].Differs["redis-lua"]["oversell"].Answer != prove.Breaks {
		t.Errorf("%+v, want one set of servers and one difference", m.Also)
	}
	other.Rows[1].Cells = map[string]prove.Cell{"waits": other.Rows[1].Cells["waits"]}
	m.Add("MySQL 9", other) // the proof was interrupted
	if m.Also[0].Differs["redis-lua"]["oversell"].Answer != prove.Breaks || m.Also[0].Asked["redis-lua"] != 3 {
		t.Errorf("%+v, want what was not asked again to stay", m.Also)
	}
	if m.Add("a server that does not answer", &prove.Matrix{}); len(m.Also) != 1 {
		t.Errorf("%+v, want nothing of servers that were not asked", m.Also)
	}
	var b strings.Builder
	labtest.Must(t, m.WriteText(&b))
	for _, want := range []string{"On MySQL 9: 6 cells were asked; 1 came out otherwise.", "redis-lua · no oversell: breaks: 3 of 2"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table does not say %q", want)
		}
	}
}
