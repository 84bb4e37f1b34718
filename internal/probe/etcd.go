package probe

import (
	"context"
	"maps"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

type etcd struct {
	client *clientv3.Client
}

// expire revokes the lease of the lock's oldest key.
func (p etcd) expire(ctx context.Context, key string, _ *Holder) (string, error) {
	keys, err := p.queue(ctx, key)
	if err != nil || len(keys) == 0 || keys[0].lease == 0 {
		return "", err
	}
	_, err = p.client.Revoke(ctx, clientv3.LeaseID(keys[0].lease))
	return "the lease of " + keys[0].key + " is revoked", err
}

// giveUp revokes the leases of what the process wrote, or tried to.
func (p etcd) giveUp(ctx context.Context, _ string, h *Holder) (did []string, err error) {
	for _, key := range slices.Sorted(maps.Keys(h.Sets)) {
		got, err := p.client.Get(ctx, key)
		if err != nil {
			return did, err
		}
		// What others wrote there has another value.
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

type etcdKey struct {
	key   string
	lease int64
}

// queue lists a lock's keys by their age.
func (p etcd) queue(ctx context.Context, key string) (all []etcdKey, err error) {
	got, err := p.client.Get(ctx, key, clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		return nil, err
	}
	for _, kv := range got.Kvs {
		all = append(all, etcdKey{string(kv.Key), kv.Lease})
	}
	return all, nil
}

// look shows the lock's keys.
func (p etcd) look(ctx context.Context, key string, _ int64) []Value {
	keys, err := p.queue(ctx, key)
	if err != nil || keys == nil {
		return nil
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.key)
	}
	return []Value{{key, strings.Join(names, " ")}}
}
