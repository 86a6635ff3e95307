package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"claimdlq/internal/cli"
	"claimdlq/internal/testtool"
)

const deploy = "../../deploy"

func readDeploy(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(deploy, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// understood wants the program to have the command with these flags.
func understood(t *testing.T, args ...string) {
	t.Helper()
	var b bytes.Buffer
	env := cli.Env{Stdin: strings.NewReader(""), Stdout: &b, Stderr: &b, Now: time.Now, Getenv: func(string) string { return "" }}
	if code := cli.Main(t.Context(), append(slices.Clone(args), "--help"), env); code != 0 || !strings.Contains(b.String(), "Usage:") {
		t.Errorf("claimdlq %v: exit %d\n%s", args, code, &b)
	}
	for _, a := range args {
		if flag, ok := strings.CutPrefix(a, "--"); ok && !strings.Contains(b.String(), "--"+flag) {
			t.Errorf("claimdlq %v has no --%s", args, flag)
		}
	}
}

var units = []string{"claimdlq.service", "claimdlq-backup.service", "claimdlq-backup.timer"}

func TestDeploy_UnitsNameCommandsThatAre(t *testing.T) {
	t.Parallel()
	n := 0
	for _, u := range units {
		for _, m := range regexp.MustCompile(`(?m)^Exec\w+=/usr/local/bin/claimdlq (.*)$`).FindAllStringSubmatch(readDeploy(t, "systemd/"+u), -1) {
			understood(t, strings.Fields(m[1])...)
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d commands", n)
	}
	// What the drop-in sets in the environment is in the configuration.
	conf := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(conf, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^Environment=(CLAIMDLQ_\w+)=`).FindAllStringSubmatch(readDeploy(t, "systemd/claimdlq.service.d/network.conf"), -1) {
		var b bytes.Buffer
		cli.Main(t.Context(), []string{"serve", "--rules", "--config", conf}, cli.Env{
			Stdout: &b, Stderr: &b, Now: time.Now, Getenv: func(string) string { return "" }, Environ: []string{m[1] + "=/none"},
		})
		if strings.Contains(b.String(), "no such key") {
			t.Errorf("%s is no key of the configuration", m[1])
		}
	}
}

// A restart changes nothing about a wrong configuration or a damaged directory.
func TestDeploy_TheServiceIsNotStartedAgainWhereThatChangesNothing(t *testing.T) {
	t.Parallel()
	u := readDeploy(t, "systemd/claimdlq.service")
	m := regexp.MustCompile(`(?m)^RestartPreventExitStatus=(.*)$`).FindStringSubmatch(u)
	if m == nil || !slices.Equal(strings.Fields(m[1]), []string{"2", "3", "4", "6", "8"}) {
		t.Errorf("RestartPreventExitStatus is %v", m)
	}
	if !strings.Contains(u, "\nType=notify\n") { // see TestServe_Notifies
		t.Error("Type is not notify")
	}
}

func TestDeploy_ServiceManagerTakesTheUnits(t *testing.T) {
	t.Parallel()
	analyze := testtool.Path(t, "systemd-analyze")
	dir := t.TempDir()
	args := []string{"verify"}
	for _, u := range units {
		// verify looks for the program.
		b := strings.ReplaceAll(readDeploy(t, "systemd/"+u), "/usr/local/bin/claimdlq", "/bin/true")
		if err := os.WriteFile(filepath.Join(dir, u), []byte(b), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, filepath.Join(dir, u))
	}
	if err := os.MkdirAll(filepath.Join(dir, "claimdlq.service.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "claimdlq.service.d", "network.conf"), []byte(readDeploy(t, "systemd/claimdlq.service.d/network.conf")), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput()
	if err != nil || strings.Contains(string(out), dir) { // a complaint names the file
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

func TestDeploy_ContainerHoldsAStaticProgramAndNamesWhatIs(t *testing.T) {
	t.Parallel()
	file := readDeploy(t, "container/Containerfile")
	for _, m := range regexp.MustCompile(`(?m)^(?:HEALTHCHECK.*)?(CMD|ENTRYPOINT) (\[.*\])$`).FindAllStringSubmatch(file, -1) {
		var words []string
		if err := json.Unmarshal([]byte(m[2]), &words); err != nil {
			t.Fatalf("%s: %v", m[0], err)
		}
		if words[0] == "/usr/local/bin/claimdlq" {
			words = words[1:]
		}
		if len(words) > 0 {
			understood(t, words...)
		}
	}
	for _, want := range []string{"CGO_ENABLED=0", "\nUSER 65532:65532\n", "\nFROM scratch\n", "-o /out/claimdlq ./cmd/claimdlq", "COPY --from=build /out/claimdlq /usr/local/bin/claimdlq"} {
		if !strings.Contains(file, want) {
			t.Errorf("the file does not say %q", want)
		}
	}
	if strings.Contains(file, "\nRUN") && strings.LastIndex(file, "\nRUN") > strings.Index(file, "\nFROM scratch") {
		t.Error("the second stage runs something, and has no shell")
	}
	// Without cgo the linker makes a static program, if nothing in it needs cgo.
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if .CgoFiles}}{{.ImportPath}}{{end}}", "./cmd/claimdlq")
	list.Dir, list.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := list.Output(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("needs cgo: %s, %v", out, err)
	}
}

func TestDeploy_ComposeNamesWhatIs(t *testing.T) {
	t.Parallel()
	var c struct {
		Services map[string]struct {
			Image    string
			Command  []string
			Volumes  []string
			Secrets  []string
			ReadOnly bool `yaml:"read_only"`
		}
		Volumes map[string]any
		Secrets map[string]any
	}
	if err := yaml.Unmarshal([]byte(readDeploy(t, "container/compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	for name, s := range c.Services {
		if host, _, ok := strings.Cut(s.Image, "/"); ok && strings.ContainsAny(host, ".:") {
			t.Errorf("%s names a registry", name)
		}
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			if _, named := c.Volumes[from]; named {
				continue
			}
			if _, err := os.Stat(filepath.Join(deploy, "container", from)); err != nil {
				t.Errorf("%s: %s is not there", name, from)
			}
		}
		for _, x := range s.Secrets {
			if _, ok := c.Secrets[x]; !ok {
				t.Errorf("%s: no secret %s", name, x)
			}
		}
	}
	own := c.Services["claimdlq"]
	understood(t, own.Command...)
	if !own.ReadOnly {
		t.Error("the root is not read-only")
	}
	// The configuration beside it has no fault but the secret that is not here.
	var b bytes.Buffer
	cli.Main(t.Context(), []string{"serve", "--rules", "--config", filepath.Join(deploy, "container", "claimdlq.yaml")}, cli.Env{
		Stdout: &b, Stderr: &b, Now: time.Now, Getenv: func(string) string { return "" },
	})
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, "(line ") && !strings.Contains(line, "token_file") {
			t.Errorf("the configuration: %s", line)
		}
	}
}
