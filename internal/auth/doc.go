// Package auth says who somebody is and what he may do: local users with passwords
// and one-time codes, sign-in through OpenID Connect, browser sessions, API tokens,
// roles, limits to partners, break-glass, and approvals by a second person. The HTTP
// API and the console ask it; it knows neither of them, and no claim.
//
// # Deny by default
//
// One table (permission.go) says which role has which permission; what is not in it
// nobody has. Principal.May is the one question, and the zero Principal is refused
// everything. An admin has no payload access by role; nobody approves what he asked
// for, and nobody changes his own roles.
//
// # Nothing happens before it is in the audit log
//
// Whatever changes something, and every sign-in that fails, is returned as an Act: the
// Event to be audited, and what would happen. Act.Do makes the event durable through
// the caller's Recorder and only then lets it happen (45 CFR 164.312(b)). A crash
// between the two leaves an entry of what was allowed and did not happen. An event
// holds a login, ids and a person's reason; never a password, code, token or session.
//
// # What is kept, and where
//
//	users.json      accounts: argon2id hashes, one-time code secrets, roles, partners
//	tokens.json     API tokens, as hashes
//	approvals.json  what waits for a second person, and what he said
//	second.json     the rule of two persons that the directory was last served with
//
// Each is replaced whole and durably (package atomicfile), mode 0600. Whoever reads
// users.json has the secrets of one-time codes: guard it like the keyring. Sessions,
// failed attempts and OpenID Connect sign-ins under way are in memory only: a restart
// signs everybody out. All of it is bounded.
//
// # Guessing
//
// An unknown login, a wrong password, a wrong or used code, a disabled account and one
// without a password cost the same work and get the same answer. Failures are counted
// before the password is looked at, per login and per address, and slow both down; an
// unknown login is slowed down like a known one.
//
// # Cross-site requests
//
// There is no CSRF token. A request that comes with a session must say, by
// Sec-Fetch-Site or Origin, that a page of ours made it; browsers set both and pages
// cannot. CheckOrigin has the rules. The cookie is SameSite=Strict, HttpOnly, and
// __Host- and Secure except on plain HTTP that stays on this machine.
package auth
