// Package taptest has tests act between two commands.
package taptest

import (
	"context"
	"strings"
	"sync"

	"seckill/internal/tap"
)

// Before does something once, before the first command that begins with verb.
func Before(ctx context.Context, verb string, do func()) context.Context {
	return tap.With(ctx, &interloper{verb: verb, do: do})
}

type interloper struct {
	verb string
	do   func()
	once sync.Once
}

func (i *interloper) Before(_ context.Context, c *tap.Command) error {
	if strings.HasPrefix(c.Text, i.verb) {
		i.once.Do(i.do)
	}
	return nil
}

func (i *interloper) After(_ context.Context, _ *tap.Command, err error) error { return err }
