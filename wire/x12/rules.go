package x12

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"claimdlq"
)

//go:embed guides
var embedded embed.FS

// Rules are one version of the implementation guide rules, ready to judge by.
// They are immutable and may be shared by any number of Scanners.
type Rules struct {
	version string
	guides  []*guide
	byRef   map[string]*guide // by ST03 or GS08
	segIDs  segTable
	others  map[string]bool // ids that other transaction sets have

	npiCheckDigit    bool
	timelyYears      int // 0: off
	chargesBalance   bool
	replacementHasF8 bool
	pointers         bool // of lines to diagnoses that are there
}

// Version returns the rule_version to record, such as v2026.11.
func (r *Rules) Version() string { return r.version }

// RuleVersions returns the embedded versions, oldest first.
func RuleVersions() []string { return versionsIn(embedded, "guides") }

func versionsIn(fsys fs.FS, dir string) []string {
	var vs []string
	entries, _ := fs.ReadDir(fsys, dir)
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), "v") {
			vs = append(vs, e.Name())
		}
	}
	slices.Sort(vs)
	return vs
}

// LatestRules returns the newest embedded rules.
func LatestRules() *Rules { return latest() }

var latest = sync.OnceValue(func() *Rules {
	vs := RuleVersions()
	r, err := LoadRules(vs[len(vs)-1])
	if err != nil {
		panic(err) // the embedded files are ours, and a test loads them all
	}
	return r
})

var loaded sync.Map // version -> func() (*Rules, error)

// LoadRules returns the embedded rules of the given version, or an error with
// code NotFound. Each version is compiled once.
func LoadRules(version string) (*Rules, error) {
	once, _ := loaded.LoadOrStore(version, sync.OnceValues(func() (*Rules, error) {
		sub, err := fs.Sub(embedded, "guides")
		if err != nil {
			return nil, &claimdlq.Error{Code: claimdlq.Internal, Op: "load rules", Err: err}
		}
		return LoadRulesFS(sub, version)
	}))
	return once.(func() (*Rules, error))()
}

// LoadRulesFS compiles a version of the rules out of fsys, which holds a
// directory for each version. A file that a version does not have is taken from
// the version that its rules.txt names as its base. Errors: NotFound where there
// is no such version, Invalid with file and line where one cannot be understood.
func LoadRulesFS(fsys fs.FS, version string) (*Rules, error) {
	files, err := ruleFiles(fsys, version)
	if err != nil {
		return nil, err
	}
	r := &Rules{version: version, byRef: map[string]*guide{}}
	settings, err := parseSettings(files["rules.txt"])
	if err != nil {
		return nil, err
	}
	r.npiCheckDigit = settings["npi_check_digit"] > 0
	r.timelyYears = settings["timely_filing"]
	r.chargesBalance = settings["charges_balance"] > 0
	r.replacementHasF8 = settings["replacement_has_f8"] > 0
	r.pointers = settings["diagnosis_pointers"] > 0
	dir, err := parseSegments(files["segments.txt"])
	if err != nil {
		return nil, err
	}
	r.segIDs, r.others = newSegTable(dir.order), dir.others
	for _, name := range []string{"837p.txt", "837i.txt", "837d.txt"} {
		src, err := parseGuide(files[name])
		if err != nil {
			return nil, err
		}
		g, err := compileGuide(src, dir)
		if err != nil {
			return nil, err
		}
		r.guides = append(r.guides, g)
		for _, v := range g.versions {
			r.byRef[v] = g
		}
	}
	return r, nil
}

// A ruleFile is one source file of rules.
type ruleFile struct{ name, text string }

const maxBases = 16 // a version may stand on

// ruleFiles collects the files of a version and of its bases.
func ruleFiles(fsys fs.FS, version string) (map[string]ruleFile, error) {
	files := map[string]ruleFile{}
	for v, depth := version, 0; v != "" || depth == 0; depth++ {
		entries, err := fs.ReadDir(fsys, v)
		if err != nil || depth > maxBases || !strings.HasPrefix(v, "v") || strings.ContainsAny(v, `/\`) {
			return nil, &claimdlq.Error{Code: claimdlq.NotFound, Op: "load rules", Hint: "the known versions are " + strings.Join(versionsIn(fsys, "."), ", ")}
		}
		base := ""
		for _, e := range entries {
			b, err := fs.ReadFile(fsys, path.Join(v, e.Name()))
			if err != nil {
				return nil, &claimdlq.Error{Code: claimdlq.NotFound, Op: "load rules", Err: err}
			}
			if e.Name() == "rules.txt" {
				base = baseOf(string(b))
			}
			if _, ok := files[e.Name()]; !ok {
				files[e.Name()] = ruleFile{path.Join(v, e.Name()), string(b)}
			}
		}
		v = base
	}
	return files, nil
}

func baseOf(text string) string {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "base" {
			return f[1]
		}
	}
	return ""
}

// guideFor returns the guide that an implementation reference chooses, or nil.
func (r *Rules) guideFor(ref string) *guide { return r.byRef[ref] }

// A segTable finds a segment's index by its id without a hash map.
type segTable struct {
	slots [512]segSlot
	names []string
}

type segSlot struct {
	key uint32
	idx uint8 // 0: empty
}

// newSegTable numbers the ids from 1.
func newSegTable(ids []string) (t segTable) {
	t.names = append([]string{""}, ids...)
	for i, id := range t.names[1:] {
		k := packID(id)
		h := hashID(k)
		for t.slots[h].idx != 0 {
			h = (h + 1) % uint32(len(t.slots))
		}
		t.slots[h] = segSlot{k, uint8(i + 1)}
	}
	return t
}

func hashID(k uint32) uint32 { return k * 0x9e3779b1 >> 23 }

func packID(id string) (k uint32) {
	for i := len(id) - 1; i >= 0; i-- {
		k = k<<8 | uint32(id[i])
	}
	return k
}

// find returns the index of the segment with the packed id, 0 if there is none.
func (t *segTable) find(k uint32) uint8 {
	h := hashID(k)
	for t.slots[h].idx != 0 {
		if t.slots[h].key == k {
			return t.slots[h].idx
		}
		h = (h + 1) % uint32(len(t.slots))
	}
	return 0
}
