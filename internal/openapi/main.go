// Package main writes the API's document, OpenAPI 3.1, to the file that it is given.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"claimdlq/internal/api"
)

func main() {
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(path string) error {
	doc, err := api.Document("")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	f, err := os.Create(path) //nolint:gosec // whoever runs it says where
	if err != nil {
		return err
	}
	_, err = b.WriteTo(f)
	return errors.Join(err, f.Close())
}
