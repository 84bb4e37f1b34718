package backend_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
)

// What we ask by ourselves is answered as the library is.
func TestZooKeeperAsksAsTheLibraryDoes(t *testing.T) {
	c, ctx := labtest.Instance(t, backend.ZooKeeper).ZooKeeper, t.Context()
	library := backend.Library(c)
	const dir = "/ask"
	if err := c.EnsurePath(ctx, dir); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, flags := range []int32{zk.FlagPersistent, zk.FlagEphemeral, zk.FlagSequence, zk.FlagEphemeralSequential} {
		for _, data := range [][]byte{nil, {}, []byte("数据"), make([]byte, 10_000)} {
			path, err := c.Create(ctx, dir+"/节点-"+string(rune('a'+len(want)))+"-", data, flags)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, path[len(dir)+1:])
			got, stat, err := library.Get(path)
			if err != nil || string(got) != string(data) {
				t.Errorf("%s holds %d bytes, want %d: %v", path, len(got), len(data), err)
			}
			if ephemeral := flags&zk.FlagEphemeral != 0; ephemeral != (stat.EphemeralOwner != 0) {
				t.Errorf("%s belongs to session %x", path, stat.EphemeralOwner)
			}
		}
	}
	names, stat, err := c.Children(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	theirs, theirStat, err := library.Children(dir)
	for _, list := range [][]string{names, theirs, want} {
		slices.Sort(list)
	}
	if err != nil || !slices.Equal(names, theirs) || !slices.Equal(names, want) || *stat != *theirStat {
		t.Errorf("we are told %v %+v, the library %v %+v, %v", names, stat, theirs, theirStat, err)
	}
	for name, err := range map[string]error{
		"create there":   second(c.Create(ctx, dir, nil, 0)),
		"delete full":    c.Delete(ctx, dir),
		"delete none":    c.Delete(ctx, dir+"/none"),
		"list none":      second(first(c.Children(ctx, dir+"/none"))),
		"create nowhere": second(c.Create(ctx, "/no/where", nil, 0)),
		"no path":        second(c.Create(ctx, "none", nil, 0)),
	} {
		want := map[string]error{"create there": zk.ErrNodeExists, "delete full": zk.ErrNotEmpty, "delete none": zk.ErrNoNode,
			"list none": zk.ErrNoNode, "create nowhere": zk.ErrNoNode, "no path": zk.ErrInvalidPath}[name]
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if err := c.Sweep(ctx, dir, ""); err != nil {
		t.Error(err)
	}
	if err := c.Delete(ctx, dir); err != nil {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

func first[T, U any](a T, _ U, err error) (T, error) { return a, err }
