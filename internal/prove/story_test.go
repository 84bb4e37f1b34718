package prove

import (
	"context"
	"testing"

	"seckill/internal/explore"
)

// Two are inside at once only if the first has not been told otherwise.
func TestStorySeesTwoHolders(t *testing.T) {
	for name, c := range map[string]struct {
		between func(*story, context.CancelFunc)
		want    int
	}{
		"the first is inside": {func(*story, context.CancelFunc) {}, 1},
		"the first was told":  {func(_ *story, tell context.CancelFunc) { tell() }, 0},
		"the first has left":  {func(s *story, _ context.CancelFunc) { s.leaves("A") }, 0},
		"the first came a second time": {func(s *story, _ context.CancelFunc) {
			s.leaves("A")
			s.enters("A", t.Context())
		}, 1},
	} {
		s := newStory(1, &explore.Scenario{})
		first, tell := context.WithCancel(t.Context())
		s.enters("A", first)
		c.between(s, tell)
		s.enters("B", t.Context())
		if got := len(s.schedule.Overlaps); got != c.want {
			t.Errorf("%s: %d overlaps, want %d", name, got, c.want)
		}
		tell()
	}
}
