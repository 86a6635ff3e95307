// Package config reads the configuration of `claimdlq serve`: one YAML file, then
// the environment, then the command line, each over the one before.
//
// Every fault is named at once: which key, on which line or in which variable, what
// is wrong and what is allowed. A key that does not exist is a fault, so that a
// typing mistake never passes as a default. Values are never quoted back: a secret
// may stand where it does not belong.
//
// # Names
//
// A key is named by its path: streams.ncpdp.policy.max_receive. The variable of the
// environment is CLAIMDLQ_ and the path in capitals, with _ for each dot:
// CLAIMDLQ_STREAMS_NCPDP_POLICY_MAX_RECEIVE. Partners, overrides and alarm rules are
// in the file only. A variable that begins with CLAIMDLQ_ and names no key is a
// fault; an empty one is not there; those that an orchestrator makes for a service
// of the name claimdlq (CLAIMDLQ_PORT, CLAIMDLQ_SERVICE_HOST and so on) are passed over.
//
// # Values
//
// A time is such as 800ms, 30s, 5m, 1h30m, 14d or 1d12h. A size is in bytes or such
// as 512KiB, 64MiB, 2GiB. Keys and words need quotes only where YAML says so: a
// partner 012345 is the text 012345, not a number. YAML's anchors, aliases and
// tags are not read. A path in the file that is not absolute begins at the file's
// own folder.
//
// # Secrets
//
// A secret is never written into the configuration: token_file and its like name a
// file, or a variable of the environment as env:NAME. It is read once, and is a
// Secret, which prints as [secret] and nothing else.
package config
