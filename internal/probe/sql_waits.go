package probe

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"seckill/internal/tap"
)

// What InnoDB's status says of a transaction.
var (
	itsThread = regexp.MustCompile(`M(?:ariaDB|ySQL) thread id (\d+),`)
	itsLocks  = regexp.MustCompile(`(LOCK WAIT )?\d+ lock struct\(s\), heap size \d+, (\d+) row lock\(s\)`)
	waitsFor  = regexp.MustCompile(`FOR THIS LOCK TO BE GRANTED:\s+(?:RECORD LOCKS .* index (\S+) of|TABLE LOCK) table (\S+) .*lock[_ ]mode (\S+)`)
)

// waits lists the connections of this database that wait for a row or a user lock now.
// The tables INNODB_LOCK_WAITS and INNODB_TRX would not do: MariaDB's cache of them stays
// as it is for as long as it is read.
func (s *SQL) waits(ctx context.Context) (list []Wait, err error) {
	var innodb struct{ Status string }
	var connections []struct{ ID, Port, State string }
	if err = s.db.WithContext(ctx).Raw("SHOW ENGINE INNODB STATUS").Scan(&innodb).Error; err == nil {
		err = s.db.WithContext(ctx).Raw("SELECT ID AS id, " + clientPort + " AS port, STATE AS state FROM information_schema.PROCESSLIST " +
			"WHERE DB = DATABASE()").Scan(&connections).Error
	}
	if err != nil {
		return nil, fmt.Errorf("ask the SQL server for its waiters: %w", err)
	}
	ports := map[string]string{} // by the number of the connection's thread
	for _, c := range connections {
		ports[c.ID] = c.Port
		if c.State == "User lock" {
			list = append(list, Wait{Backend: tap.SQL, Port: c.Port, Why: "the server's list of processes says: User lock (GET_LOCK)"})
		}
	}
	var holders []string
	for _, transaction := range strings.Split(innodb.Status, "---TRANSACTION ")[1:] {
		thread, locks := itsThread.FindStringSubmatch(transaction), itsLocks.FindStringSubmatch(transaction)
		if thread == nil || locks == nil || ports[thread[1]] == "" {
			continue
		}
		switch port := ports[thread[1]]; {
		case locks[1] != "":
			list = append(list, Wait{Backend: tap.SQL, Port: port, Why: why(transaction)})
		case locks[2] != "0":
			holders = append(holders, port)
		}
	}
	for i := range list {
		list[i].Holders = holders
	}
	return list, nil
}

// why says which lock a transaction waits for.
func why(transaction string) string {
	m := waitsFor.FindStringSubmatch(transaction)
	if m == nil {
		return "the SQL server counts it among those that wait for a lock"
	}
	index, table := m[1], strings.ReplaceAll(m[2], "`", "")
	text := fmt.Sprintf("waits for the lock %s on %s", m[3], table[strings.LastIndex(table, ".")+1:])
	if index != "" {
		text += ", index " + strings.ReplaceAll(index, "`", "")
	}
	return text
}
