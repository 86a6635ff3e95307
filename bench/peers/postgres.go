package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/jackc/pgx/v5/pgxpool"
)

// postgres is a PostgreSQL of our own: defaults for durability (fsync and
// synchronous_commit are on), with memory and log space for a load of this kind.
type postgres struct {
	svc  *service
	pool *pgxpool.Pool
}

// packaged is where distributions put the server's programs, which are not on the path.
const packaged = "/usr/lib/postgresql/*/bin/"

func openPostgres(ctx context.Context, dir string, connections int) (*postgres, error) {
	initdb, err := program("initdb", packaged+"initdb")
	if err != nil {
		return nil, err
	}
	server, err := program("postgres", packaged+"postgres")
	if err != nil {
		return nil, err
	}
	who, err := unprivileged("postgres")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := errors.Join(os.Mkdir(data, 0o700), who.own(data)); err != nil {
		return nil, err
	}
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	env := []string{"LC_ALL=C", "HOME=" + data, "PATH=" + os.Getenv("PATH")}
	command := func(bin string, args ...string) *exec.Cmd {
		cmd := who.run(exec.CommandContext(ctx, bin, args...))
		cmd.Env, cmd.Dir = env, data
		return cmd
	}
	if out, err := command(initdb, "-D", data, "-U", "peers", "-A", "trust", "-E", "UTF8").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	settings := []string{
		"listen_addresses=127.0.0.1", fmt.Sprintf("port=%d", ports[0]), "unix_socket_directories=",
		fmt.Sprintf("max_connections=%d", connections+20), "shared_buffers=512MB", "max_wal_size=4GB", "wal_buffers=16MB",
	}
	args := []string{"-D", data}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	cmd := who.run(exec.Command(server, args...)) // it is stopped by Close, not by the context
	cmd.Env, cmd.Dir = env, data
	p := &postgres{}
	if p.svc, err = launch("postgres", dir, cmd); err != nil {
		return nil, err
	}
	url := fmt.Sprintf("postgres://peers@%s/postgres?sslmode=disable&pool_max_conns=%d", loopback(ports[0]), connections)
	if p.pool, err = pgxpool.New(ctx, url); err == nil {
		err = p.svc.ready(ctx, p.pool.Ping)
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *postgres) version(ctx context.Context) (v string, err error) {
	err = p.pool.QueryRow(ctx, "SHOW server_version").Scan(&v)
	return v, err
}

func (p *postgres) close() error {
	if p.pool != nil {
		p.pool.Close()
	}
	return p.svc.stop(syscall.SIGINT) // "fast shutdown"
}
