package serve

import (
	"bytes"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

// memoryLimit returns how much memory the process may use: the soft limit of the
// runtime, or the least of its control groups and what the machine has; 0 if nobody
// knows. root is / but in tests.
func memoryLimit(root string) uint64 {
	if soft := debug.SetMemoryLimit(-1); soft < math.MaxInt64 {
		return uint64(soft)
	}
	return lesser(machineMemory(root), groupMemory(root))
}

// lesser returns the lesser limit; 0 is none.
func lesser(a, b uint64) uint64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// groupMemory returns the least limit of the process's control group and of those it
// lies in, of either version; 0 if there is none.
func groupMemory(root string) (limit uint64) {
	b, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0
	}
	mounts := groupMounts(root)
	for line := range strings.Lines(string(b)) {
		// hierarchy:controllers:path, of version 2 0::path (cgroups(7)).
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 || f[1] != "" && !strings.Contains(","+f[1]+",", ",memory,") {
			continue
		}
		version, file := 2, "memory.max"
		if f[1] != "" {
			version, file = 1, "memory.limit_in_bytes"
		}
		m, ok := mounts[version]
		if !ok {
			continue
		}
		// What is mounted may begin below the root: a container sees its own group alone.
		at := path.Clean("/" + f[2])
		if rest, in := strings.CutPrefix(at+"/", strings.TrimSuffix(m.from, "/")+"/"); in {
			at = path.Clean("/" + rest)
		} else {
			at = "/"
		}
		for ; ; at = path.Dir(at) {
			limit = lesser(limit, readLimit(filepath.Join(root, m.at, at, file)))
			if at == "/" {
				break
			}
		}
	}
	return limit
}

// groupMount is where control groups are mounted, and from which group on.
type groupMount struct{ at, from string }

// groupMounts returns the mounts of versions 1 (the memory controller) and 2. See
// proc_pid_mountinfo(5) for the file.
func groupMounts(root string) map[int]groupMount {
	out := map[int]groupMount{}
	b, _ := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	for line := range bytes.Lines(b) {
		before, after, ok := strings.Cut(string(line), " - ")
		f, fs := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 5 || len(fs) < 3 {
			continue
		}
		switch {
		case fs[0] == "cgroup2":
			out[2] = groupMount{f[4], f[3]}
		case fs[0] == "cgroup" && strings.Contains(","+fs[2]+",", ",memory,"):
			out[1] = groupMount{f[4], f[3]}
		}
	}
	return out
}

// readLimit reads a limit; 0 where there is none, which version 2 says as max and
// version 1 as a number that no machine has.
func readLimit(name string) uint64 {
	b, err := os.ReadFile(name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	if err != nil || n >= 1<<62 {
		return 0
	}
	return n
}

// machineMemory reads MemTotal; 0 where there is no such file.
func machineMemory(root string) uint64 {
	b, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		rest, ok := strings.CutPrefix(line, "MemTotal:")
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 54)
		if err != nil {
			return 0
		}
		return n << 10
	}
	return 0
}
