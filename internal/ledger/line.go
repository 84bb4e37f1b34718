package ledger

import "slices"

// A line is a queue that those in it may leave. It is guarded by its owner's mutex.
type line[T interface {
	comparable
	spot() *place
}] struct {
	list []T
	left int // of them that have left
}

// A place is where one stands in a line.
type place struct{ sent, left bool }

func (p *place) spot() *place { return p }

func (l *line[T]) join(m T) { l.list = append(l.list, m) }

func (l *line[T]) len() int { return len(l.list) - l.left }

// first takes the first n out.
func (l *line[T]) first(n int) []T {
	var out []T
	for len(l.list) > 0 && len(out) < n {
		m := l.list[0]
		l.list = l.list[1:]
		if m.spot().left {
			l.left--
			continue
		}
		m.spot().sent = true
		out = append(out, m)
	}
	return out
}

// leave takes m out; false: it was taken out by first.
func (l *line[T]) leave(m T) bool {
	if m.spot().sent {
		return false
	}
	m.spot().left = true
	if l.left++; l.left > len(l.list)/2 { // so that a server that hangs costs no memory
		l.list = slices.DeleteFunc(l.list, func(m T) bool { return m.spot().left })
		l.left = 0
	}
	return true
}
