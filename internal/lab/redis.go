package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"seckill/internal/backend"
)

// redisServer keeps nothing on disk: one that starts again is empty. It wants
// the lab's password, and gives it to others as their replica or in a Cluster.
func (l *Lab) redisServer(program Program, name, of string, more ...string) server {
	return server{
		name: name, backend: of, kind: backend.NameRedis, ports: 1,
		command: func(ports []int) (command, error) {
			secrets, err := l.redisSecrets(name)
			return command{Env: l.serverEnv(), Dir: l.folder, Args: append([]string{program.Path, secrets,
				"--port", strconv.Itoa(ports[0]), "--bind", "127.0.0.1",
				"--save", "", "--appendonly", "no", "--dbfilename", name + ".rdb"}, more...)}, err
		},
		check: func(ctx context.Context, addr string, pid int) (string, error) {
			info, err := askRedis(ctx, l.redisURL(addr), "server")
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

// askRedis asks INFO for one section and reads its lines.
func askRedis(ctx context.Context, address, section string) (map[string]string, error) {
	answer, err := sayRedis(ctx, address, func(r *bufio.Reader) (string, error) {
		head, err := r.ReadString('\n') // $1234, the length of what follows
		if err != nil {
			return "", err
		}
		n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "$")))
		if err != nil || n < 0 {
			return "", fmt.Errorf("it says %q", strings.TrimSpace(head))
		}
		body := make([]byte, n)
		_, err = io.ReadFull(r, body)
		return string(body), err
	}, "INFO", section)
	info := map[string]string{}
	for line := range strings.Lines(answer) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[key] = value
		}
	}
	return info, err
}

// tellRedis sends a command whose answer is OK. address may have credentials.
func tellRedis(ctx context.Context, address string, command ...string) error {
	_, err := sayRedis(ctx, address, readOK, command...)
	if err != nil {
		return fmt.Errorf("tell Redis at %s %s: %w", backend.ShowRedis([]string{address}), strings.Join(command, " "), err)
	}
	return nil
}

// sayRedis logs in, if address has credentials, and sends one command.
func sayRedis(ctx context.Context, address string, read func(*bufio.Reader) (string, error), command ...string) (string, error) {
	a, err := backend.ParseRedis(address)
	if err != nil {
		return "", err
	}
	said := inRESP(command)
	if a.Password != "" {
		login := []string{"AUTH", a.Password}
		if a.User != "" { // which Redis 5 does not know
			login = []string{"AUTH", a.User, a.Password}
		}
		said = inRESP(login) + said
	}
	return talk(ctx, a.Host, said, func(r *bufio.Reader) (string, error) {
		if a.Password != "" {
			if _, err := readOK(r); err != nil {
				return "", err
			}
		}
		return read(r)
	})
}

func inRESP(command []string) string {
	said := fmt.Sprintf("*%d\r\n", len(command))
	for _, word := range command {
		said += fmt.Sprintf("$%d\r\n%s\r\n", len(word), word)
	}
	return said
}

func readOK(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "+OK") {
		err = fmt.Errorf("it says %q", strings.TrimSpace(line))
	}
	return line, err
}
