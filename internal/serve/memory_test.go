package serve

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryLimit_IsTheLeastOfTheProcesssOwnGroups(t *testing.T) { // 51
	t.Parallel()
	const (
		mib     = 1 << 20
		meminfo = "MemTotal:        1048576 kB\nMemFree: 1 kB\n" // 1 GiB
		v2      = "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
		v1      = "41 32 0:35 / /sys/fs/cgroup/memory rw,nosuid shared:16 - cgroup cgroup rw,memory\n40 32 0:34 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
	)
	for name, c := range map[string]struct {
		files map[string]string
		want  uint64
	}{
		"nothing is known":        {nil, 0},
		"the machine":             {map[string]string{"proc/meminfo": meminfo}, 1024 * mib},
		"no limit in version 2":   {map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/a/memory.max": "max\n"}, 1024 * mib},
		"its own group":           {map[string]string{"proc/self/cgroup": "0::/system.slice/claimdlq.service\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/system.slice/claimdlq.service/memory.max": "268435456\n"}, 256 * mib},
		"a group that it lies in": {map[string]string{"proc/self/cgroup": "0::/a/b/c\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/a/memory.max": "134217728\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/b/c/memory.max": "268435456\n"}, 128 * mib},
		"another's group":         {map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/b/memory.max": "1048576\n"}, 1024 * mib},
		"a container, its group mounted as the root": {map[string]string{
			"proc/self/cgroup": "0::/docker/x\n", "proc/self/mountinfo": "35 24 0:30 /docker/x /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "sys/fs/cgroup/memory.max": "67108864\n",
		}, 64 * mib},
		"a container with a namespace of groups": {map[string]string{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "67108864\n"}, 64 * mib},
		"version 1": {map[string]string{
			"proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/a/b\n0::/x\n", "proc/self/mountinfo": v1,
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "33554432\n", "sys/fs/cgroup/cpu/x/memory.limit_in_bytes": "1\n",
		}, 32 * mib},
		"both versions": {map[string]string{
			"proc/self/cgroup": "4:memory:/a\n0::/a\n", "proc/self/mountinfo": v1 + "42 32 0:36 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "33554432\n", "sys/fs/cgroup/unified/a/memory.max": "max\n",
		}, 32 * mib},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			if c.files != nil && c.files["proc/meminfo"] == "" {
				c.files["proc/meminfo"] = meminfo
			}
			for file, text := range c.files {
				at := filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := lesser(machineMemory(root), groupMemory(root)); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}
