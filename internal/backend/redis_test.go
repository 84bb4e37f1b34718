package backend

import (
	"errors"
	"testing"

	"seckill/internal/seckill"
)

// A redisAnswer is an error that a Redis server has answered.
type redisAnswer string

func (a redisAnswer) Error() string { return string(a) }
func (redisAnswer) RedisError()     {}

// An error answer proves that nothing was changed, unless it comes from inside a script: an earlier command of the
// script may have changed something.
func TestErrorsInsideScriptsAreUnknown(t *testing.T) {
	const at7 = " script: 6b74b80446c5, on @user_script:12." // Redis 7
	const at6 = "ERR Error running script (call to f_6b74b80446c5): @user_script:12: "
	for text, unknown := range map[string]bool{
		"NOPERM this user has no permissions to run the 'evalsha' command":                 false,
		"NOSCRIPT No matching script. Please use EVAL.":                                    false,
		"BUSY Redis is busy running a script.":                                             false,
		"MOVED 3999 127.0.0.1:6381":                                                        false,
		"CLUSTERDOWN The cluster is down":                                                  false,
		"LOADING Redis is loading the dataset in memory":                                   false,
		"WRONGTYPE Operation against a key holding the wrong kind of value":                false,
		"OOM command not allowed when used memory > 'maxmemory'." + at7:                    false,
		"READONLY You can't write against a read only replica." + at7:                      false,
		"NOREPLICAS Not enough good replicas to write." + at7:                              false,
		"MISCONF Redis is configured to save RDB snapshots" + at7:                          false,
		at6 + "@user_script: 12: -OOM command not allowed when used memory > 'maxmemory'.": false,
		"ERR The user executing the script can't run this command or subcommand" + at7:     true,
		"NOPERM ACL failure in script: User app has no permissions to run 'xadd'" + at7:    true,
		"WRONGTYPE Operation against a key holding the wrong kind of value" + at7:          true,
		"ERR value is not an integer or out of range" + at7:                                true,
		at6 + "WRONGTYPE Operation against a key holding the wrong kind of value":          true,
		"ERR Error compiling script (new function): <string>:12: WRONGTYPE Operation":      true,
	} {
		err := RedisError(redisAnswer(text))
		if errors.Is(err, seckill.ErrUnknown) != unknown || seckill.NothingTaken(err) == unknown {
			t.Errorf("%s\n\tbecame %v; want an unknown outcome: %v", text, err, unknown)
		}
	}
}
