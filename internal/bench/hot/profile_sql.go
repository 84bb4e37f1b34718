package hot

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
)

// Statements are timed by the database itself, whose performance_schema must be
// on.
type Statements struct{ Admin *sql.DB }

// begin forgets what was timed.
func (s *Statements) begin(ctx context.Context) error {
	for _, table := range []string{"events_statements_summary_by_digest", "prepared_statements_instances"} {
		if _, err := s.Admin.ExecContext(ctx, "TRUNCATE TABLE performance_schema."+table); err != nil {
			return err
		}
	}
	return nil
}

// end is what was timed since then: statements sent as text, a CALL as a whole;
// MySQL times what is prepared, too. Times are in picoseconds.
func (s *Statements) end(ctx context.Context, orders int) ([]Statement, error) {
	rows, err := s.Admin.QueryContext(ctx, `
SELECT DIGEST_TEXT, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT IS NOT NULL
AND DIGEST_TEXT NOT LIKE '%performance_schema%' AND SCHEMA_NAME IS NOT NULL
UNION ALL
SELECT SQL_TEXT, SUM(COUNT_EXECUTE), SUM(SUM_TIMER_EXECUTE) FROM performance_schema.prepared_statements_instances GROUP BY SQL_TEXT`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []Statement{}
	for rows.Next() {
		var text string
		var times, picoseconds float64
		if err := rows.Scan(&text, &times, &picoseconds); err != nil {
			return nil, err
		}
		if text = short(text); times == 0 || text == "" {
			continue
		}
		i := slices.IndexFunc(all, func(s Statement) bool { return s.Text == text })
		if i < 0 {
			i, all = len(all), append(all, Statement{Text: text})
		}
		all[i].Times += times / float64(orders)
		all[i].Us += picoseconds / 1e6 / float64(orders)
	}
	slices.SortFunc(all, func(a, b Statement) int { return cmp.Compare(b.Us, a.Us) })
	return slices.DeleteFunc(all, func(s Statement) bool { return s.Us < 0.05 }), rows.Err()
}

// short names a statement by its verb and its table.
func short(text string) string {
	words := strings.Fields(strings.ReplaceAll(text, "`", ""))
	if len(words) == 0 {
		return ""
	}
	after := func(word string) string {
		for i, w := range words[:len(words)-1] {
			if strings.EqualFold(w, word) {
				return strings.TrimRight(words[i+1], "(,;")
			}
		}
		return ""
	}
	upper := strings.ToUpper(text)
	switch verb := strings.ToUpper(words[0]); {
	case strings.Contains(upper, "GET_LOCK") || strings.Contains(upper, "RELEASE_LOCK"):
		return "claims"
	case verb == "INSERT":
		return "INSERT INTO " + after("INTO")
	case verb == "UPDATE":
		return "UPDATE " + cmp.Or(after(words[0]), after("FROM")) // of a locked read
	case verb == "DELETE":
		return "DELETE FROM " + after("FROM")
	case verb == "SELECT" && after("FROM") != "":
		return "SELECT FROM " + after("FROM")
	case verb == "CALL":
		return "CALL"
	case verb == "START" || verb == "BEGIN":
		return "BEGIN"
	case verb == "COMMIT" || verb == "ROLLBACK":
		return verb
	}
	return strings.Join(words[:min(len(words), 3)], " ")
}
