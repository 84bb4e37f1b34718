package catalog

import (
	"slices"
	"strings"
)

// SixWays lists the strategies that people ask for first: an UPDATE without a condition, an UPDATE
// with a condition, a version number, FOR UPDATE, a lock in Redis and a lock in ZooKeeper.
var SixWays = []string{"atomic", "conditional", "version", "for-update", "redis-lua", "zk"}

// otherNames lists the names that people use for a strategy, in the form that plainName returns. No name is listed
// twice. If a general name, such as redis-lock, fits several strategies, it is listed with the one whose lock only its
// owner can release.
var otherNames = map[string][]string{
	"naive":                {"read-compute-write", "no-lock", "无锁"},
	"atomic":               {"decrement"},
	"conditional":          {"guarded", "update-where", "条件更新"},
	"version":              {"optimistic", "optimistic-lock", "optimistic-locking", "cas", "compare-and-set", "occ", "乐观锁", "版本号"},
	"for-update":           {"pessimistic", "pessimistic-lock", "pessimistic-locking", "select-for-update", "row-lock", "悲观锁", "行锁"},
	"for-update-nowait":    {"nowait"},
	"mutex":                {"synchronized", "reentrantlock", "互斥锁"},
	"unlock-before-commit": {"transactional"},
	"lock-insert":          {"unique-key", "唯一键", "唯一索引"},
	"get-lock":             {"advisory", "advisory-lock", "mysql-lock"},
	"redis-setnx":          {"setnx"},
	"redis-set-nx-px":      {"set-nx", "set-nx-px", "set-nx-ex"},
	"redis-lua":            {"redis", "redis-lock", "redislock", "redis锁", "redis分布式锁", "分布式锁", "distributed-lock"},
	"redis-watchdog":       {"redisson", "watchdog", "看门狗"},
	"redlock":              {"redlock-lock", "红锁"},
	"redis-fenced":         {"fencing", "fencing-token", "fence", "围栏令牌"},
	"zk":                   {"zookeeper", "zookeeper-lock", "zk-lock", "curator", "zookeeper锁", "zookeeper分布式锁"},
	"etcd":                 {"etcd-lock", "etcd锁"},
	"redis-counter":        {"decr", "decrby"},
	"redis-counter-mysql":  {"预扣", "预扣库存"},
	"merged":               {"batch", "batching", "合并", "合并扣减"},
	"bucketed":             {"buckets", "segments", "分桶", "分段", "分段锁"},
	"unit-rows":            {"skip-locked"},
	"redis-stream":         {"queue", "mq", "kafka", "rocketmq", "rabbitmq", "outbox", "消息队列", "异步下单"},
	"reserve":              {"reservation", "hold", "预占", "预留"},
}

// OtherNames returns the names that people use for the strategy, besides its name and title.
func (i Info) OtherNames() []string { return otherNames[i.Name] }

// Find returns the strategy that has the given name or lists it among its other names. It ignores case, and treats
// spaces and underscores as hyphens. If there is no such strategy, it returns false.
func Find(all []Info, name string) (Info, bool) {
	name = plainName(name)
	for _, i := range all {
		if i.Name == name {
			return i, true
		}
	}
	for _, i := range all {
		if slices.Contains(i.OtherNames(), name) {
			return i, true
		}
	}
	return Info{}, false
}

// Matches reports whether the strategy's name, one of its other names, its family or one of its titles contains the
// given word.
func (i Info) Matches(word string) bool {
	known := append([]string{i.Name, i.Family}, i.OtherNames()...)
	for _, language := range Languages {
		known = append(known, plainName(i.TitleIn(language)))
	}
	return slices.ContainsFunc(known, func(k string) bool { return strings.Contains(k, plainName(word)) })
}

const maxSuggestions = 3

// DidYouMean returns a sentence, beginning with a space, that suggests strategies for a wrong name. Their names contain
// the wrong name or are similar to it, and the most similar comes first. Without suggestions, DidYouMean returns "".
func DidYouMean(all []Info, wrong string) string {
	wrong = plainName(wrong)
	if len(wrong) < 2 || len(wrong) > 64 {
		return ""
	}
	var near []Info
	distance := map[string]int{}
	for _, i := range all {
		distance[i.Name] = len(wrong)
		contains := false
		for _, known := range append([]string{i.Name}, i.OtherNames()...) {
			distance[i.Name] = min(distance[i.Name], editDistance(wrong, known))
			contains = contains || len(wrong) > 2 && strings.Contains(known, wrong)
		}
		if contains || distance[i.Name] <= max(1, len(wrong)/4) {
			near = append(near, i)
		}
	}
	if len(near) == 0 {
		return ""
	}
	slices.SortStableFunc(near, func(a, b Info) int { return distance[a.Name] - distance[b.Name] })
	var names []string
	for _, i := range near[:min(len(near), maxSuggestions)] {
		names = append(names, i.Name)
	}
	return " Did you mean " + strings.Join(names, ", ") + "?"
}

// plainName returns a name in lower case, with a hyphen for each space and underscore.
func plainName(name string) string {
	return strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(strings.TrimSpace(name)))
}

// editDistance returns how many letters must be inserted, deleted or replaced to turn a into b (Levenshtein distance).
func editDistance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range from {
		diagonal := row[0]
		row[0]++
		for j := range to {
			replaced := diagonal
			if from[i] != to[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
