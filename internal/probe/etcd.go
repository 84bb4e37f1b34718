package probe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

type etcd struct {
	client *clientv3.Client
}

func (p etcd) expire(ctx context.Context, key string, _ int64, _ *Holder) (string, error) {
	keys, err := p.queue(ctx, key)
	if err != nil || len(keys) == 0 || keys[0].Lease == 0 {
		return "", err
	}
	_, err = p.client.Revoke(ctx, clientv3.LeaseID(keys[0].Lease))
	return fmt.Sprintf("the lease of %s is revoked", keys[0].Key), err
}

// giveUp revokes the leases of the keys that the process wrote or tried to write.
func (p etcd) giveUp(ctx context.Context, _ string, h *Holder) (did []string, err error) {
	for _, key := range slices.Sorted(maps.Keys(h.Sets)) {
		got, err := p.client.Get(ctx, key)
		if err != nil {
			return did, err
		}
		// A key whose value is not one of the values in h was written by another process, and is skipped.
		if len(got.Kvs) != 1 || got.Kvs[0].Lease == 0 || !h.wrote(key, string(got.Kvs[0].Value)) {
			continue
		}
		if _, err := p.client.Revoke(ctx, clientv3.LeaseID(got.Kvs[0].Lease)); err != nil {
			return did, err
		}
		did = append(did, "the lease of "+key+" ends")
	}
	return did, nil
}

func (p etcd) queue(ctx context.Context, key string) ([]*mvccpb.KeyValue, error) {
	got, err := p.client.Get(ctx, key, clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		return nil, err
	}
	return got.Kvs, nil
}

func (p etcd) values(ctx context.Context, key string, _ int64) []Value {
	keys, err := p.queue(ctx, key)
	if err != nil || len(keys) == 0 {
		return nil
	}
	var names []string
	for _, k := range keys {
		names = append(names, string(k.Key))
	}
	return []Value{{key, strings.Join(names, " ")}}
}
