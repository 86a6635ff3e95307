package envelope_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"claimdlq"
	"claimdlq/flow/envelope"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/vault/memvault"
	"claimdlq/wire/ncpdp"
)

// transmission makes one of so many claims, framed as it was received.
func transmission(t *testing.T, claims int) phi.Bytes {
	t.Helper()
	g, err := testclaims.NewRx(testclaims.RxOptions{Claims: claims, TransactionsPer: claims, CompoundEvery: -1, Framed: true})
	if err != nil {
		t.Fatal(err)
	}
	return phi.Wrap(g.Append(nil, 1))
}

func members(ordinals ...uint32) (out []claimdlq.Record) {
	for _, n := range ordinals {
		out = append(out, claimdlq.Record{Ordinal: n, PayloadRevision: 1, Format: claimdlq.FormatNCPDP})
	}
	return out
}

func TestRxCompose_AllThatCameGoesOutAsItCame(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 4; n++ {
		raw := transmission(t, n)
		all := members([]uint32{1, 2, 3, 4}[:n]...)
		var m ncpdp.Message
		got, err := envelope.RxCompose(&m, raw, all)
		if err != nil || !got.Equal(raw) || m.Groups() != n {
			t.Errorf("%d transactions: %v, %d in the message", n, err, m.Groups())
		}
	}
}

func TestRxCompose_OneOfManyGoesOutAlone(t *testing.T) {
	t.Parallel()
	raw := transmission(t, 3)
	whole := ncpdp.Parse(raw.Reveal())
	for n := uint32(1); n <= 3; n++ {
		var m ncpdp.Message
		got, err := envelope.RxCompose(&m, raw, members(n))
		if err != nil || m.Groups() != 1 || m.Count() != 1 || !bytes.Equal(m.RxOf(1), whole.RxOf(int(n))) || !bytes.Equal(m.Raw(), got.Reveal()) {
			t.Errorf("transaction %d: %v, %d of them", n, err, m.Groups())
		}
		doc, err := envelope.RxDocument(raw, members(n)[0])
		if err != nil || !doc.Equal(got) {
			t.Errorf("transaction %d has another document: %v", n, err)
		}
	}
}

// A corrected payload is one transaction alone, whatever place it had.
func TestRxCompose_ACorrectedOneIsItsWholePayload(t *testing.T) {
	t.Parallel()
	raw := transmission(t, 1)
	r := members(3)
	r[0].PayloadRevision = 2
	if got, err := envelope.RxCompose(new(ncpdp.Message), raw, r); err != nil || !got.Equal(raw) {
		t.Errorf("%v", err)
	}
}

func TestRxCompose_RefusesWhatCannotGoTogether(t *testing.T) {
	t.Parallel()
	raw := transmission(t, 3)
	late := members(1, 2)
	late[0].PayloadRevision, late[1].PayloadRevision = 2, 2
	for name, rs := range map[string][]claimdlq.Record{"none": nil, "two of three": members(1, 2), "corrected ones": late} {
		if _, err := envelope.RxCompose(new(ncpdp.Message), raw, rs); !errors.Is(err, claimdlq.Internal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := envelope.RxCompose(new(ncpdp.Message), raw, members(7)); !errors.Is(err, claimdlq.Invalid) {
		t.Errorf("a place that it has not: %v", err)
	}
}

func TestRxBytes_OpensThePayload(t *testing.T) {
	t.Parallel()
	v := memvault.New()
	raw := transmission(t, 2)
	ref, err := v.Stage(phi.Wrap(append([]byte("TEST BEFORE"), raw.Reveal()...)))
	if err != nil {
		t.Fatal(err)
	}
	rs := members(1, 2)
	for i := range rs {
		rs[i].Payload = claimdlq.PayloadRef{Unit: ref.Unit, Offset: 11, Length: int64(raw.Len())}
	}
	proof := claimdlq.NewProof(1, 1)
	s := claimdlq.Submission{ID: 42, Stream: claimdlq.StreamNCPDP}
	got, err := envelope.RxBytes(t.Context(), v, proof, s, rs)
	if err != nil || !got.Equal(raw) {
		t.Errorf("%v", err)
	}
	if _, err := envelope.RxBytes(t.Context(), v, claimdlq.Proof{}, s, rs); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("without a proof: %v", err)
	}
	if _, err := envelope.RxBytes(t.Context(), v, proof, s, nil); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("without a member: %v", err)
	}
	p := envelope.RxParcel(s, got)
	for range 2 { // a target may read it again
		in, err := p.Content()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil || !bytes.Equal(b, raw.Reveal()) || p.Size != int64(len(b)) || p.Name != "ncpdp-42.d0" {
			t.Errorf("parcel %s of %d bytes: %v", p.Name, p.Size, err)
		}
	}
}

func TestRxOrdinal_IsThePlaceInWhatGoesOut(t *testing.T) {
	t.Parallel()
	r := members(3)[0]
	if envelope.RxOrdinal(r, 1) != 1 || envelope.RxOrdinal(r, 4) != 3 {
		t.Error("got another place")
	}
}
