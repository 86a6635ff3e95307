package app

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

// filePolicies holds the levers that the directory was last served with.
const filePolicies = "policies.json"

// keepPolicies settles on the levers: those given, which are kept, or those that were kept. So a
// command without a configuration goes by the same budget and cap as the process that
// serves the directory.
func (a *App) keepPolicies(given claimdlq.Policies) error {
	path := filepath.Join(a.dir, filePolicies)
	b, err := os.ReadFile(path)
	var kept claimdlq.Policies
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fsError("read policies", err)
	case json.Unmarshal(b, &kept) != nil:
		return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read policies", On: filePolicies, Hint: "remove the file, and serve once with your configuration"}
	}
	if given == nil {
		a.policies = kept
		return nil
	}
	a.policies = given
	if reflect.DeepEqual(given, kept) {
		return nil
	}
	if b, err = json.Marshal(given); err != nil {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "keep policies", Err: err}
	}
	if err := atomicfile.WriteFile(path, b, 0o600); err != nil {
		return fsError("keep policies", err)
	}
	return nil
}
