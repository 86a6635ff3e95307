package claimdlq

// By says who does something and why; it goes into the audit log. Reason is for
// people's words and must name no patient; at most 200 bytes are kept.
type By struct {
	Actor  string
	Reason string
}

// System returns the By of an automatic stage, such as "system:attempt".
func System(stage string) By { return By{Actor: "system:" + stage} }
