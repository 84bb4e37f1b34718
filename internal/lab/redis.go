package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// redisServer keeps nothing on disk: one that starts again is empty.
func (l *Lab) redisServer(program Program, name, of string, more ...string) server {
	return server{
		name: name, backend: of, ports: 1,
		command: func(ports []int) (command, error) {
			return command{Env: l.serverEnv(), Dir: l.folder, Args: append([]string{program.Path,
				"--port", strconv.Itoa(ports[0]), "--bind", "127.0.0.1",
				"--save", "", "--appendonly", "no", "--dbfilename", name + ".rdb"}, more...)}, nil
		},
		check: func(ctx context.Context, addr string, pid int) (string, error) {
			info, err := askRedis(ctx, addr, "server")
			if err == nil && info["process_id"] != strconv.Itoa(pid) {
				return "", errors.New("another server has this port")
			}
			return redisName(info), err
		},
	}
}

func redisVersion(ctx context.Context, addr string) (string, error) {
	info, err := askRedis(ctx, addr, "server")
	return redisName(info), err
}

func redisName(info map[string]string) string {
	if v := info["valkey_version"]; v != "" {
		return "Valkey " + v
	}
	return "Redis " + info["redis_version"]
}

// askRedis sends INFO for one section and reads its lines.
func askRedis(ctx context.Context, addr, section string) (map[string]string, error) {
	answer, err := talk(ctx, addr, "INFO "+section+"\r\n", func(r *bufio.Reader) (string, error) {
		head, err := r.ReadString('\n') // $1234, the length of what follows
		if err != nil {
			return "", err
		}
		n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "$")))
		if err != nil {
			return "", fmt.Errorf("it says %q", strings.TrimSpace(head))
		}
		body := make([]byte, n)
		_, err = io.ReadFull(r, body)
		return string(body), err
	})
	info := map[string]string{}
	for line := range strings.Lines(answer) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[key] = value
		}
	}
	return info, err
}
