package app

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"claimdlq"
	"claimdlq/flow/filing"
	"claimdlq/internal/atomicfile"
)

// The levers and filing windows that the directory was last served with.
const (
	filePolicies = "policies.json"
	fileWindows  = "windows.json"
)

// keepPolicies settles on the levers: those given, which are kept, or those that were kept. So a
// command without a configuration goes by the same budget and cap as the process that
// serves the directory.
func (a *App) keepPolicies(given claimdlq.Policies, windows filing.Windows) (err error) {
	if a.policies, err = keep(a.dir, filePolicies, given); err != nil {
		return err
	}
	a.windows, err = keep(a.dir, fileWindows, windows)
	return err
}

// keep returns what is given, having kept it in the file, or what is kept where nothing
// is given.
func keep[M ~map[string]V, V any](dir, name string, given M) (M, error) {
	path := filepath.Join(dir, name)
	b, err := os.ReadFile(path)
	var kept M
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fsError("read policies", err)
	case json.Unmarshal(b, &kept) != nil:
		return nil, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read policies", On: name, Hint: "remove the file, and serve once with your configuration"}
	}
	if given == nil {
		return kept, nil
	}
	if reflect.DeepEqual(given, kept) {
		return given, nil
	}
	if b, err = json.Marshal(given); err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Internal, Op: "keep policies", Err: err}
	}
	if err := atomicfile.WriteFile(path, b, 0o600); err != nil {
		return nil, fsError("keep policies", err)
	}
	return given, nil
}
