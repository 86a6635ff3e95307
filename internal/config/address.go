package config

import (
	"mime"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"claimdlq/internal/loopback"
)

// isURL reports whether a destination is an address and not a folder.
func isURL(s string) bool {
	scheme, _, found := strings.Cut(s, "://")
	return found && !strings.ContainsAny(scheme, `/\`)
}

// address allows https, and http to this machine only: claims must not leave it
// unencrypted. A password in it would be written into the configuration.
func address(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "must be an address that begins with https://, or with http:// on this machine"
	case u.User != nil:
		return "must hold no user and password: give them in a file"
	case u.Scheme == "http" && !loopback.Host(u.Hostname()):
		return "must begin with https://: nothing leaves this machine unencrypted"
	}
	return ""
}

// destination allows an address or an existing folder.
func destination(s string) string {
	if isURL(s) {
		return address(s)
	}
	if existingFolder(s) != "" {
		return "must be an address (https://...) or a folder that exists"
	}
	return ""
}

var statusNames = strings.NewReplacer("{isa13}", "0", "{sender}", "0", "{receiver}", "0", "{name}", "0")

// statusPlace allows an address with names in braces, or an existing folder.
func statusPlace(s string) string {
	if !isURL(s) {
		return destination(s)
	}
	filled := statusNames.Replace(s)
	if strings.ContainsAny(filled, "{}") {
		return "may have {isa13}, {sender}, {receiver} and {name} in it, no other braces"
	}
	return address(filled)
}

func anyPath(s string) string {
	if s == "" || strings.ContainsRune(s, 0) {
		return "must be a path"
	}
	return ""
}

func existingFolder(s string) string {
	if info, err := os.Stat(s); s == "" || err != nil || !info.IsDir() {
		return "must be a folder that exists"
	}
	return ""
}

func regularFile(s string) string {
	if info, err := os.Stat(s); s == "" || err != nil || !info.Mode().IsRegular() {
		return "must be a file that exists"
	}
	return ""
}

func listenAddress(s string) string {
	_, port, err := net.SplitHostPort(s)
	if n, perr := strconv.ParseUint(port, 10, 16); err != nil || perr != nil || n > 65535 {
		return "must be HOST:PORT, such as 127.0.0.1:8837"
	}
	return ""
}

func mediaType(s string) string {
	if _, _, err := mime.ParseMediaType(s); err != nil || !strings.Contains(s, "/") {
		return "must be a media type such as application/x-ncpdp"
	}
	return ""
}

// longWord allows a token: no blanks, and long enough not to be guessed.
func longWord(b []byte) string {
	if len(b) < 16 || !printable(b, '!') {
		return "the secret must have 16 characters at least, all of them printable ASCII, no blanks"
	}
	return ""
}

// headerValue allows what can stand in a header.
func headerValue(b []byte) string {
	if len(b) == 0 || !printable(b, ' ') {
		return "the secret must be one line of printable ASCII, such as Bearer and a token"
	}
	return ""
}

func printable(b []byte, from byte) bool {
	for _, c := range b {
		if c < from || c > '~' {
			return false
		}
	}
	return true
}

// partnerName says what is wrong with a partner's name; names are as records have
// them.
func partnerName(stream, name string) string {
	first, last, both := strings.Cut(name, ":")
	if stream == StreamNCPDP {
		if !bin(first) || both && !word(last, 10) {
			return "a pharmacy payer is BIN or BIN:PCN: six or eight digits, and up to ten characters"
		}
		return ""
	}
	if !both {
		first, last = "ZZ", first
	}
	if len(first) != 2 || !word(first, 2) || !word(last, 15) {
		return "an 837 receiver is ISA08 or ISA07:ISA08: two characters, and up to fifteen"
	}
	return ""
}

func bin(s string) bool {
	return (len(s) == 6 || len(s) == 8) && strings.Trim(s, "0123456789") == ""
}

// word reports whether s is 1 to most characters that a partner's name in a record
// may have.
func word(s string, most int) bool {
	return s != "" && len(s) <= most && printable([]byte(s), '!') && !strings.ContainsAny(s, ":|")
}
