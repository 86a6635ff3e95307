package archtest

// Module is the import path of the root package.
const Module = "claimdlq"

// May lists, for each package of the module, the packages of the module that it
// may import; "." is the root package. A package that is not here fails the test.
//
// The layers, from the ground up: vocabulary; pure code (wire, classify); ports
// (store, vault, audit, target); stages (flow/...); adapters; surfaces; wiring. A
// stage never imports another stage: they hand over through the store. An
// adapter knows its own port only. Nothing but internal/app imports adapters.
var May = map[string]string{
	".":                   "",
	"phi":                 "",
	"internal/atomicfile": "",

	"wire/x12":    ". phi",
	"wire/x12ack": ". phi wire/x12",
	"classify":    ".",

	"store":  ".",
	"vault":  ". phi",
	"target": ". phi",
	"audit":  ". store internal/atomicfile",

	"store/memstore":            ". store",
	"store/filestore":           ". store store/filestore/sortedrun internal/atomicfile",
	"store/filestore/sortedrun": ". internal/atomicfile",
	"store/storetest":           ". store store/memstore",
	"vault/keyring":             ". internal/atomicfile",
	"vault/filevault":           ". phi vault vault/keyring internal/atomicfile",
	"vault/vaulttest":           ". phi vault",
	"target/foldertarget":       ". phi target internal/atomicfile classify",
	"target/httptarget":         ". phi target classify",

	"flow":         ". phi store vault target wire/x12 classify flow/intake flow/attempt flow/correct flow/replay flow/settle flow/retain flow/dlqlog flow/envelope",
	"flow/dlqlog":  ".",
	"flow/intake":  ". phi store vault wire/x12 classify flow/dlqlog",
	"flow/attempt": ". phi store vault target wire/x12 classify flow/dlqlog",
	"flow/correct": ". phi store vault wire/x12 classify flow/dlqlog",
	"flow/replay":  ". phi store vault wire/x12 classify flow/dlqlog",
	"flow/settle":  ". phi store vault target wire/x12 wire/x12ack classify flow/dlqlog",
	"flow/retain":  ". store vault flow/dlqlog",

	"internal/check":      ". wire/x12 wire/x12ack internal/atomicfile",
	"internal/logging":    ".",
	"internal/metrics":    ". store",
	"internal/testclaims": "",
	"internal/payersim":   ". phi wire/x12 wire/x12ack internal/atomicfile",
	"internal/app": ". phi store store/memstore store/filestore vault vault/keyring vault/filevault audit target target/foldertarget target/httptarget " +
		"flow flow/intake flow/attempt flow/correct flow/replay flow/settle flow/retain wire/x12 internal/logging internal/metrics internal/atomicfile",
	"internal/cli": ". phi store audit flow flow/intake flow/attempt flow/correct flow/replay flow/settle flow/retain target vault wire/x12 wire/x12ack " +
		"internal/app internal/check internal/logging internal/metrics internal/payersim internal/testclaims internal/atomicfile",
	"internal/archtest": "",
	"cmd/claimdlq":      "internal/cli",
}

// PHI lists the packages that may import package phi, and why. With the vault
// and the bytes in use inside wire, it is the list of places where PHI can be.
var PHI = map[string]string{
	"wire/x12":            "cuts and rewrites claims",
	"wire/x12ack":         "acknowledgments name the payer's and the submitter's numbers of a claim",
	"vault":               "the port seals and opens payloads",
	"vault/filevault":     "seals and opens payloads",
	"vault/vaulttest":     "checks that what is sealed comes back",
	"target":              "the port hands an answer back that came with a delivery",
	"target/foldertarget": "writes the interchange into the payer's folder",
	"target/httptarget":   "sends the interchange to the payer",
	"flow":                "joins the stages",
	"flow/intake":         "seals what it takes in",
	"flow/attempt":        "opens payloads to deliver them",
	"flow/correct":        "opens a payload for a person and seals its next revision",
	"flow/replay":         "opens a payload to send it under new numbers",
	"flow/settle":         "reads acknowledgments and matches them to claims",
	"internal/payersim":   "plays the payer",
	"internal/app":        "hands answers that came with a delivery to settle",
	"internal/cli":        "shows a payload to a named person with a reason, and takes the corrected one",
}

// Kits lists the packages for tests only: no package outside this list imports them.
var Kits = []string{"store/storetest", "vault/vaulttest"}

// Pure lists the packages that decide and do no I/O, and so must not import what
// could: not even to log.
var Pure = []string{".", "wire/x12", "wire/x12ack", "classify"}

// Impure are the standard packages that no pure package imports.
var Impure = []string{"os", "net", "net/http", "log/slog", "os/exec", "database/sql", "syscall"}

// MaxModules is how many modules the program may link, our own not counted.
const MaxModules = 40
