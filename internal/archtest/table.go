package archtest

// Module is the import path of the root package.
const Module = "claimdlq"

// May lists, for each package of the module, the packages of the module that it
// may import; "." is the root package. A package that is not here fails the test.
//
// The layers, from the ground up: vocabulary; pure code (wire, classify); ports
// (store, vault, audit, target); stages (flow/...) and what they share (audited,
// dlqlog, envelope, lineage); adapters; surfaces; wiring. A stage never imports
// another stage: they hand over through the store. An adapter knows its own port
// only. Nothing but internal/app, and what measures it, imports adapters.
var May = map[string]string{
	".":                   "",
	"phi":                 "",
	"internal/atomicfile": "",

	"wire/x12":    ".",
	"wire/x12ack": ". phi classify wire/x12",
	"wire/ncpdp":  ".",
	"classify":    ".",
	"retry":       ".",
	"sizing":      ". retry",
	"alert":       ". retry sizing",

	"store":  ".",
	"vault":  ". phi",
	"target": ". phi",
	"audit":  ". internal/atomicfile",

	"store/memstore":            ". store",
	"store/filestore":           ". store store/filestore/sortedrun internal/atomicfile",
	"store/filestore/sortedrun": ".",
	"store/storetest":           ". store store/memstore",
	"alert/webhook":             ". alert internal/loopback",
	"alert/email":               ". alert internal/loopback",
	"vault/keyring":             ". internal/atomicfile",
	"vault/filevault":           ". phi vault vault/keyring internal/atomicfile",
	"vault/memvault":            ". phi vault",
	"vault/vaulttest":           ". phi vault",
	"target/foldertarget":       ". target classify internal/atomicfile",
	"target/httptarget":         ". phi target classify internal/loopback",
	"target/targettest":         ". target",

	"flow/answer":   ". classify wire/ncpdp",
	"flow/audited":  ". store",
	"flow/dlqlog":   ".",
	"flow/envelope": ". phi store vault target classify wire/x12 wire/ncpdp",
	"flow/filing":   ". phi vault",
	"flow/lineage":  ". store wire/ncpdp",

	"flow/intake":  ". phi store vault wire/x12 flow/dlqlog flow/envelope flow/filing flow/lineage wire/ncpdp",
	"flow/attempt": ". phi store vault target retry classify wire/ncpdp flow/answer flow/dlqlog flow/envelope flow/lineage",
	"flow/settle":  ". phi store vault target wire/x12 wire/x12ack classify flow/audited flow/dlqlog flow/envelope flow/lineage flow/answer wire/ncpdp",
	"flow/correct": ". phi store vault wire/x12 flow/audited flow/envelope flow/filing wire/ncpdp",
	"flow/replay":  ". store vault wire/x12 flow/audited flow/dlqlog flow/envelope flow/lineage phi wire/ncpdp",
	"flow/retain":  ". store vault flow/audited flow/dlqlog flow/filing flow/lineage",
	"flow":         ". phi store vault target retry classify wire/x12 flow/dlqlog flow/lineage flow/intake flow/attempt flow/settle flow/correct flow/replay flow/retain flow/filing",

	"internal/api":           ". phi store audit alert sizing classify wire/x12 wire/ncpdp flow/attempt flow/correct flow/filing flow/intake flow/replay flow/retain flow/settle internal/app internal/auth internal/job internal/plot internal/recipe internal/atomicfile internal/background",
	"internal/auth":          ". internal/atomicfile internal/loopback",
	"internal/auth/authtest": "",
	"internal/backup":        ". store flow/audited internal/atomicfile",
	"internal/config":        ". alert alert/email classify retry internal/auth internal/loopback",
	"internal/control":       ".",
	"internal/check":         ". classify wire/x12 wire/x12ack wire/ncpdp internal/atomicfile",
	"internal/fsck":          ". store vault audit",
	"internal/background":    ". store internal/atomicfile",
	"internal/job":           ". store flow/audited flow/envelope flow/replay flow/retain internal/atomicfile internal/background",
	"internal/recipe":        ". store flow/audited flow/correct internal/atomicfile internal/background",
	"internal/logging":       ".",
	"internal/metrics":       ". alert retry store",
	"internal/testclaims":    ". wire/x12",
	"internal/plot":          ". sizing",
	"internal/payersim":      ". phi target classify wire/x12 wire/x12ack wire/ncpdp internal/atomicfile",
	"internal/app": ". phi store vault target audit alert classify retry sizing wire/x12 store/filestore vault/filevault vault/keyring target/foldertarget target/httptarget " +
		"flow flow/attempt flow/audited flow/envelope flow/filing flow/lineage flow/replay flow/retain internal/atomicfile internal/auth internal/backup internal/fsck",
	"internal/serve": ". phi retry store alert wire/ncpdp flow flow/intake internal/api internal/app internal/atomicfile internal/control internal/job internal/metrics internal/recipe internal/loopback",
	"internal/bench": ". phi store vault target audit classify wire/x12 wire/ncpdp store/filestore vault/filevault vault/keyring retry flow flow/intake flow/replay internal/payersim internal/serve internal/testclaims",
	"internal/cli": ". phi retry sizing store audit alert alert/email alert/webhook classify wire/ncpdp wire/x12 target/foldertarget flow/attempt flow/correct flow/filing flow/intake flow/replay flow/retain flow/settle " +
		"internal/app internal/atomicfile internal/auth internal/backup internal/bench internal/check internal/config internal/control internal/fsck internal/logging internal/loopback internal/metrics internal/payersim internal/plot internal/serve internal/testclaims web",
	"internal/e2e":       "",
	"internal/archtest":  "",
	"internal/testtool":  "",
	"internal/loopback":  "",
	"internal/openapi":   "internal/api",
	"client":             ".",
	"internal/clientgen": "internal/api",
	"web":                ". docs",
	"docs":               "",
	"cmd/claimdlq":       "internal/cli",
}

// PHI lists the packages that may import package phi, and why. With the vault
// and the bytes in use inside wire, it is the list of places where PHI can be.
var PHI = map[string]string{
	"wire/x12ack":       "acknowledgments name the payer's and the submitter's numbers of a claim",
	"vault":             "the port seals and opens payloads",
	"vault/filevault":   "seals and opens payloads",
	"vault/memvault":    "stands in for a vault in tests",
	"vault/vaulttest":   "checks that what is sealed comes back",
	"target":            "the port hands an answer back that came with a delivery",
	"target/httptarget": "hands the answer back that came with a delivery",
	"flow":              "hands an answer that came with a delivery to settle",
	"flow/filing":       "seals and reads the days from which filing windows are counted",
	"flow/envelope":     "composes what goes out, and the document that a person looks at",
	"flow/intake":       "seals what it takes in",
	"flow/attempt":      "composes what it delivers",
	"flow/correct":      "opens a payload for a person and seals its next revision",
	"flow/replay":       "reads which fill a corrected pharmacy claim is",
	"flow/settle":       "reads acknowledgments and matches them to claims",
	"internal/api":      "shows a payload to a named person with a reason, and takes the corrected one",
	"internal/app":      "opens a payload for a named person with a reason",
	"internal/serve":    "hands claims that came over HTTP to intake",
	"internal/payersim": "hands the answer back that came with a delivery",
	"internal/bench":    "seals generated claims to measure it",
	"internal/cli":      "shows a payload to a named person with a reason, and takes the corrected one",
}

// Kits lists the packages for tests only: no package outside this list imports them.
var Kits = []string{"store/storetest", "vault/vaulttest", "vault/memvault", "target/targettest", "internal/auth/authtest", "internal/testtool"}

// Pure lists the packages that decide and do no I/O, and so must not import what
// could: not even to log. Package classify knows the errors of net and syscall,
// and so is not among them.
var Pure = []string{".", "wire/x12", "wire/x12ack", "wire/ncpdp", "retry", "sizing", "alert"}

// Impure are the standard packages that no pure package imports.
var Impure = []string{"os", "net", "net/http", "log/slog", "os/exec", "database/sql", "syscall"}

// MaxModules is how many modules the program may link, our own not counted.
const MaxModules = 40
