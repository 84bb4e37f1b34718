// Package taptest has tests act between two commands.
package taptest

import (
	"context"
	"errors"
	"strings"
	"sync"

	"seckill/internal/tap"
)

// A Tap acts before and after commands. Its error is what the caller sees.
type Tap struct {
	OnBefore func(c *tap.Command) error
	OnAfter  func(c *tap.Command, err error) error
}

func (m *Tap) Before(_ context.Context, c *tap.Command) error {
	if m.OnBefore != nil {
		return m.OnBefore(c)
	}
	return nil
}

func (m *Tap) After(_ context.Context, c *tap.Command, err error) error {
	if m.OnAfter != nil {
		return m.OnAfter(c, err)
	}
	return err
}

// ErrLostReply is what a caller sees of a command whose reply is lost.
var ErrLostReply = errors.New("the reply was lost")

// Before does something once, before the first command that begins with verb.
func Before(ctx context.Context, verb string, do func()) context.Context {
	var once sync.Once
	return tap.With(ctx, &Tap{OnBefore: func(c *tap.Command) error {
		if strings.HasPrefix(c.Text, verb) {
			once.Do(do)
		}
		return nil
	}})
}
