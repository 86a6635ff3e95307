package envelope

import (
	"context"
	"io"
	"strconv"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/phi"
	"claimdlq/target"
	"claimdlq/vault"
	"claimdlq/wire/ncpdp"
)

// RxRules is the rule version of a pharmacy record: the rules that judge its form
// and the table that says what its answers mean.
const RxRules = ncpdp.RuleVersion + "+" + classify.NCPDPVersion

// RxDocument returns the record's transaction as a transmission of its own: cut out of
// the one it came in, or the whole of raw where it came alone or was corrected. raw is
// the record's payload. Errors: Invalid where it cannot be cut.
func RxDocument(raw phi.Bytes, r claimdlq.Record) (phi.Bytes, error) {
	return RxCompose(new(ncpdp.Message), raw, []claimdlq.Record{r})
}

// RxCompose returns the exact bytes that go out for the members of one submission, in
// order, out of their payload: the bytes as received where the members are all that
// came in it, or the single member's document. m is left holding what is returned.
// Errors: Invalid where it cannot be cut, Internal for members that cannot go together.
func RxCompose(m *ncpdp.Message, raw phi.Bytes, members []claimdlq.Record) (phi.Bytes, error) {
	m.Reset(raw.Reveal())
	if len(members) == 0 {
		return phi.Bytes{}, apart(0)
	}
	r := members[0]
	all := max(1, m.Groups())
	switch {
	case r.PayloadRevision > 1 && len(members) == 1:
		return raw, nil
	case r.PayloadRevision <= 1 && len(members) == all:
		return raw, nil
	case r.PayloadRevision > 1 || len(members) != 1:
		return phi.Bytes{}, apart(len(members))
	}
	cut, err := ncpdp.Cut(m, int(r.Ordinal))
	if err != nil {
		return phi.Bytes{}, err
	}
	m.Reset(cut)
	return phi.Wrap(cut), nil
}

func apart(n int) error {
	return &claimdlq.Error{Code: claimdlq.Internal, Op: "compose transmission", On: strconv.Itoa(n) + " members", Hint: "members go out together only as they came"}
}

// RxBytes opens the payload of the submission's members and returns the exact bytes that
// go out for them; see RxCompose. Errors: those of the vault too.
func RxBytes(ctx context.Context, v vault.Vault, proof claimdlq.Proof, s claimdlq.Submission, members []claimdlq.Record) (phi.Bytes, error) {
	if len(members) == 0 {
		return phi.Bytes{}, &claimdlq.Error{Code: claimdlq.Refused, Op: "compose transmission", On: "submission " + strconv.FormatUint(uint64(s.ID), 10), Hint: "it has no member left"}
	}
	raw, err := v.Open(ctx, members[0].Payload, proof)
	if err != nil {
		return phi.Bytes{}, err
	}
	return RxCompose(new(ncpdp.Message), raw, members)
}

// RxOrdinal returns the number of the member's transaction in the bytes that went out
// for it together with the given count of members.
func RxOrdinal(r claimdlq.Record, members int) int {
	if members > 1 {
		return int(r.Ordinal)
	}
	return 1
}

// RxParcel returns the transmission as a target takes it.
func RxParcel(s claimdlq.Submission, b phi.Bytes) target.Parcel {
	return target.Parcel{
		Name: ParcelName(s), Size: int64(b.Len()),
		Content: func() (io.ReadCloser, error) { return phi.NewReader(b), nil },
	}
}
