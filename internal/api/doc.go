// Package api is the HTTP interface for those who operate claimdlq: records, groups,
// commands, replay jobs, approvals, users, alarms and the audit log. The console is a
// client of it like any other. Its document, OpenAPI 3.1, is generated from the types
// and served at /openapi.json.
//
// # Deny by default
//
// Every operation names its permission (x-permission in the document; see package
// auth; where there is a bar between several, what is asked for depends on the request). It is asked for before anything of the request is read, and again, with the
// reason, for the partner of each record that is touched. What belongs to a partner
// whom somebody may not see does not exist for him: not in lists, groups, figures or
// events, and commands answer 404.
//
// # Commands
//
// A command carries an Idempotency-Key: the same key with the same request gets the
// first answer again, with another request it is refused. A command on a record
// carries If-Match with the record's ETag, which is its revision: whoever saw an
// older one is refused (412), and nothing is lost. Keys are kept in memory, bounded;
// after a restart a repeated command meets the revision it has itself made.
//
// # Payloads
//
// Operations whose request or answer is the content of a claim are apart from all
// others: New does not have them, Payload has nothing else, so that they can have a
// listener of their own. Each look is in the audit log before anything is opened.
//
// # Answers
//
// No answer may be cached. Errors are problems (RFC 9457) with this project's codes;
// they name positions, ids and the names of fields, never what was sent.
package api

//go:generate go run ../openapi ../../docs/openapi.json
