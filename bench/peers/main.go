// Command peers runs claimdlq beside other software under the same work, in one run
// on one machine, and prints rates and ratios. The ratios are what may be quoted:
// absolute figures belong to a machine.
//
//	peers [stores]   its store and vault beside SQLite and Pebble, in one process
//	peers queues     its queue of claims beside RabbitMQ, River and asynq
//
// Each takes --help. The queues need the peers' servers installed; one that is not
// is left out.
//
// It is a module of its own so that no peer is ever linked into the product.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

// scenarios are what the first argument names.
var scenarios = map[string]func(args []string) error{
	"stores": storesMain,
	"queues": queuesMain,
}

func main() {
	name, args := "stores", os.Args[1:]
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	scenario, ok := scenarios[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "peers: no scenario %q: stores or queues\n", name)
		os.Exit(2)
	}
	switch err := scenario(args); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}
