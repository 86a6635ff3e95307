package claimdlq

// By says who does something and why; it goes into the audit log. Reason is for
// people's words and must name no patient; at most 200 bytes are kept.
//
// Actor names who it is and how that is known, so that nobody is taken for another: an
// account of the API has its login alone, which has no colon; everybody else has one of
// the prefixes below before his name.
type By struct {
	Actor  string
	Reason string
}

// The prefixes of actors.
const (
	ActorSystem      = "system:" // an automatic stage
	ActorCommandLine = "cli:"    // a user of the operating system, or whom --actor names
	ActorProvider    = "oidc:"   // who signed in through the OpenID Connect provider
)

// System returns the By of an automatic stage, such as "system:attempt".
func System(stage string) By { return By{Actor: ActorSystem + stage} }

// CommandLine returns the By of somebody at the command line, such as "cli:ana". Whoever
// may run a command says who he is: it is not the account of that login.
func CommandLine(name, reason string) By {
	return By{Actor: ActorCommandLine + name, Reason: reason}
}
