package prove

import (
	"slices"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

// Merge returns a matrix of infos with the cells of m, and where m has none,
// those of old. What strategies and questions say of themselves is today's.
func (m *Matrix) Merge(old *Matrix, infos []catalog.Info) *Matrix {
	all := newMatrix(infos, Questions())
	all.Seed, all.Schedules, all.Took = m.Seed, m.Schedules, m.Took
	for _, row := range all.Rows {
		for _, from := range []*Matrix{old, m} {
			for _, r := range from.Rows {
				for _, q := range all.Questions {
					if c := r.Cells[q.ID]; r.Strategy == row.Strategy && c.Answer != Missing {
						row.Cells[q.ID] = c
					}
				}
			}
		}
	}
	// Ports change with every run: only another version is news.
	all.Backends = slices.Clone(old.Backends)
	for _, s := range m.Backends {
		i := slices.IndexFunc(all.Backends, func(o backend.Status) bool { return o.Name == s.Name })
		switch {
		case i < 0:
			all.Backends = append(all.Backends, s)
		case s.OK && s.Version != all.Backends[i].Version:
			all.Backends[i] = s
		}
	}
	return all
}
