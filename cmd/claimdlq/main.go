// Command claimdlq quarantines, corrects and replays healthcare claims.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"claimdlq/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], cli.System())
	stop()
	os.Exit(code)
}
