package tap

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// changed says how many rows a statement has changed.
func changed(res *driver.Result) func(error) string {
	return func(err error) string {
		if err != nil || *res == nil {
			return ""
		}
		n, err := (*res).RowsAffected()
		switch {
		case err != nil:
			return ""
		case n == 1:
			return "1 row"
		}
		return fmt.Sprint(n, " rows")
	}
}

// read says what a query has read, and keeps it for its caller.
func read(rows *driver.Rows) func(error) string {
	return func(err error) string {
		if err != nil || *rows == nil {
			return ""
		}
		kept := &keptRows{Rows: *rows}
		*rows = kept
		return kept.text()
	}
}

// keptRows have read their first rows ahead.
type keptRows struct {
	driver.Rows
	ahead [][]driver.Value
	end   error // of reading ahead
}

const rowsAhead = 4

func (r *keptRows) text() string {
	columns := r.Columns()
	for len(r.ahead) < rowsAhead && r.end == nil {
		row := make([]driver.Value, len(columns))
		if r.end = r.Rows.Next(row); r.end == nil {
			for i, v := range row {
				if b, ok := v.([]byte); ok { // the driver uses it again
					row[i] = slices.Clone(b)
				}
			}
			r.ahead = append(r.ahead, row)
		}
	}
	if len(r.ahead) == 0 {
		if errors.Is(r.end, io.EOF) {
			return "no row"
		}
		return ""
	}
	var lines []string
	for _, row := range r.ahead {
		if len(lines) == rowsAhead-1 {
			lines = append(lines, "…")
			break
		}
		var values []string
		for i, v := range row {
			switch b, ok := v.([]byte); {
			case ok:
				v = string(b)
			case v == nil:
				v = "NULL"
			}
			if len(columns) == 1 {
				values = append(values, fmt.Sprint(v))
			} else {
				values = append(values, fmt.Sprint(columns[i], " = ", v))
			}
		}
		lines = append(lines, strings.Join(values, ", "))
	}
	return strings.Join(lines, "; ")
}

func (r *keptRows) Next(into []driver.Value) error {
	switch {
	case len(r.ahead) > 0:
		copy(into, r.ahead[0])
		r.ahead = r.ahead[1:]
		return nil
	case r.end != nil:
		return r.end
	}
	return r.Rows.Next(into)
}
