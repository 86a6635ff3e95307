package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	amqp "github.com/rabbitmq/amqp091-go"
)

// rabbitServer is a RabbitMQ of our own: its own node name, cookie, folders, ports and
// name server (epmd), all on loopback.
type rabbitServer struct {
	epmd, svc *service
	url       string
}

func startRabbit(ctx context.Context, dir string) (*rabbitServer, error) {
	// The script on the path of a packaged RabbitMQ changes the account and the home;
	// the one beside its other scripts does what the environment says.
	bin, err := program("rabbitmq-server", "/usr/lib/rabbitmq/bin/rabbitmq-server")
	if err != nil {
		return nil, err
	}
	epmd, err := program("epmd")
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	env, err := rabbitFiles(dir, ports)
	if err != nil {
		return nil, err
	}
	r := &rabbitServer{url: "amqp://guest:guest@" + loopback(ports[0]) + "/"}
	names := exec.Command(epmd, "-address", "127.0.0.1", "-port", fmt.Sprint(ports[1]))
	names.Env = env
	if r.epmd, err = launch("epmd", dir, names); err != nil {
		return nil, err
	}
	if err := r.epmd.ready(ctx, listening(ports[1])); err != nil {
		return nil, errors.Join(err, r.stop())
	}
	cmd := exec.Command(bin)
	cmd.Env, cmd.Dir = env, dir
	if r.svc, err = launch("rabbitmq", dir, cmd); err != nil {
		return nil, errors.Join(err, r.stop())
	}
	err = r.svc.ready(ctx, func(context.Context) error {
		c, err := amqp.Dial(r.url)
		if err != nil {
			return err
		}
		return c.Close()
	})
	if err != nil {
		return nil, errors.Join(err, r.stop())
	}
	return r, nil
}

// rabbitFiles writes the configuration and returns the environment that names it: nothing
// of an installed server's is used. Ports are of AMQP, epmd and distribution.
func rabbitFiles(dir string, ports []int) (env []string, err error) {
	at := func(name string) string { return filepath.Join(dir, name) }
	files := map[string]string{
		"rabbitmq.conf":   fmt.Sprintf("listeners.tcp.local = %s\nlog.file.level = warning\n", loopback(ports[0])),
		"env.conf":        "",
		"enabled_plugins": "[].\n",
	}
	for name, text := range files {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8",
		"ERL_EPMD_ADDRESS=127.0.0.1", fmt.Sprintf("ERL_EPMD_PORT=%d", ports[1]),
		"RABBITMQ_NODENAME=claimdlq-peers@localhost", fmt.Sprintf("RABBITMQ_DIST_PORT=%d", ports[2]),
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1}",
		"RABBITMQ_MNESIA_BASE=" + at("mnesia"), "RABBITMQ_LOG_BASE=" + at("log"), "RABBITMQ_PID_FILE=" + at("pid"),
		"RABBITMQ_CONFIG_FILE=" + at("rabbitmq.conf"), "RABBITMQ_CONF_ENV_FILE=" + at("env.conf"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + at("enabled_plugins"),
	}, nil
}

func (r *rabbitServer) stop() error {
	return errors.Join(r.svc.stop(syscall.SIGTERM), r.epmd.stop(syscall.SIGTERM))
}
