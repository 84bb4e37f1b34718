package hotsku

import (
	"context"
	"errors"
	"net"

	"github.com/redis/go-redis/v9"
)

// A meddler changes what a writer does with the entries that it reads.
type meddler struct {
	on      redis.UniversalClient // its own commands
	meddles func(m *meddler, stream string, row []any)
	reads   int
}

func (*meddler) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (*meddler) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (m *meddler) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		script, ok := cmd.(*redis.Cmd)
		if err != nil || !ok || cmd.Name() != "evalsha" || cmd.Args()[1] != streamNext.Hash() {
			return err
		}
		answer, _ := script.Val().([]any)
		for _, row := range answer[2].([]any) {
			m.reads++
			m.meddles(m, cmd.Args()[3].(string), row.([]any))
		}
		return nil
	}
}

// acksEarly acknowledges before the COMMIT: when it reads.
func acksEarly(m *meddler, stream string, row []any) {
	ctx := context.Background()
	if err := errors.Join(m.on.XAck(ctx, stream, "writers", row[0].(string)).Err(), m.on.XDel(ctx, stream, row[0].(string)).Err()); err != nil {
		panic(err)
	}
}
