package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"claimdlq/internal/plot"
	"claimdlq/sizing"
)

// plotFormat returns what draws a file of that name; nil if nothing does.
func plotFormat(name string) func(io.Writer, plot.Chart) error {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".svg":
		return plot.SVG
	case ".png":
		return plot.PNG
	}
	return nil
}

// plotTo draws the longest incident of the answer into the file.
func plotTo(name string, a *sizing.Answer) error {
	c, err := plot.Outage(a)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := plotFormat(name)(&b, c); err != nil {
		return err
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil { //nolint:gosec // a chart of counts, to be shown
		return inputError("write chart", "", err)
	}
	return nil
}
