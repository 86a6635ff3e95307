package keyring

import (
	"crypto/ed25519"

	"golang.org/x/mod/sumdb/note"

	"claimdlq"
)

// SignerName is the name in every audit checkpoint's signature.
const SignerName = "claimdlq-audit"

// Signer returns the signer of audit checkpoints (Ed25519, RFC 8032).
func (k *Keyring) Signer() (note.Signer, error) {
	private := ed25519.NewKeyFromSeed(k.ring.Load().primary(useAudit).secret())
	vkey, err := verifierKey(private)
	if err != nil {
		return nil, err
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Internal, Op: "make audit signer", Err: err}
	}
	return signer{verifier, func(msg []byte) []byte { return ed25519.Sign(private, msg) }}, nil
}

// VerifierKey returns the public half as text, "name+hash+key": what an auditor
// keeps to check the audit log on another machine. It is no secret.
func (k *Keyring) VerifierKey() (string, error) {
	return verifierKey(ed25519.NewKeyFromSeed(k.ring.Load().primary(useAudit).secret()))
}

func verifierKey(private ed25519.PrivateKey) (string, error) {
	public, ok := private.Public().(ed25519.PublicKey)
	if !ok {
		return "", &claimdlq.Error{Code: claimdlq.Internal, Op: "make audit verifier"}
	}
	vkey, err := note.NewEd25519VerifierKey(SignerName, public)
	if err != nil {
		return "", &claimdlq.Error{Code: claimdlq.Internal, Op: "make audit verifier", Err: err}
	}
	return vkey, nil
}

// signer implements note.Signer. The key is in a closure, so that printing a
// signer shows none of it.
type signer struct {
	verifier note.Verifier
	sign     func([]byte) []byte
}

func (s signer) Name() string                    { return s.verifier.Name() }
func (s signer) KeyHash() uint32                 { return s.verifier.KeyHash() }
func (s signer) Sign(msg []byte) ([]byte, error) { return s.sign(msg), nil }
