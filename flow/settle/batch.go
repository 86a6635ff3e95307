package settle

import (
	"bytes"
	"errors"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/envelope"
	"claimdlq/flow/lineage"
	"claimdlq/store"
	"claimdlq/wire/x12"
	"claimdlq/wire/x12ack"
)

// candidate is a record that a 277CA may be about, with its claims.
type candidate struct {
	record   claimdlq.Record
	children map[int]claimdlq.Record // the claims that parted from it, by ordinal
	claims   []sentClaim
	// sub is the submission that the answers are for, where that is known from the
	// batch number; else its zero value: the first sending.
	sub claimdlq.Submission
}

// sentClaim is one claim of an opened payload. CLM01 is PHI and in memory only.
type sentClaim struct {
	ordinal  int
	clm01    []byte
	provider []byte
	cents    int64
	keys     []claimdlq.Key // fingerprint under each term
}

// Batches are opened under one audit commit and moved in another, as many at a
// time as have together claims and maxBatches at most.
const (
	together   = 20_000
	maxBatches = 256
)

// work is what the answers of one batch make of one candidate.
type work struct {
	c        candidate
	verdicts map[int]x12ack.Answer
	code     claimdlq.Detail
	numbered []claimdlq.Submission // reserved, kept over a conflict
}

// batches does what 277CAs say about batches and their claims.
func (j *job) batches(all []*claimBatch) error {
	for len(all) > 0 {
		n, claims := 0, uint32(0)
		var found [][]candidate
		var opened []claimdlq.Record
		for n < len(all) && n < maxBatches && claims < together {
			cs, err := j.candidates(all[n])
			if err != nil {
				return err
			}
			for _, c := range cs {
				opened = append(opened, c.record)
				claims += c.record.Claims + c.record.Parted
			}
			found = append(found, cs)
			n++
		}
		if err := j.some(all[:n], found, opened); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// some opens the candidates of some batches and applies what their answers say.
func (j *job) some(bs []*claimBatch, found [][]candidate, opened []claimdlq.Record) error {
	proof, err := audited.Open(j.ctx, j.Store, j.by, claimdlq.ActOpen, j.now(), opened...)
	if err != nil {
		return err
	}
	var ws []*work
	for i, b := range bs {
		more, err := j.work(b, found[i], proof)
		if err != nil {
			return err
		}
		ws = append(ws, more...)
	}
	return j.applyAll(ws)
}

// work matches the answers of one batch to the claims of its candidates.
func (j *job) work(b *claimBatch, found []candidate, proof claimdlq.Proof) ([]*work, error) {
	if len(found) == 0 {
		j.miss(b.answers(), "277:ORPHAN")
		return nil, nil
	}
	for i := range found {
		err := j.open(&found[i], proof)
		if errors.Is(err, claimdlq.NotFound) || errors.Is(err, claimdlq.Corrupt) || errors.Is(err, claimdlq.Invalid) {
			j.miss(b.answers(), "277:NO_PAYLOAD")
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	verdicts, orphans := match(found, b)
	if orphans > 0 {
		j.miss(orphans, "277:ORPHAN")
	}
	var out []*work
	for i, v := range verdicts {
		if len(v) == 0 && len(found) > 1 {
			continue // nothing says that it is this one
		}
		out = append(out, &work{c: found[i], verdicts: v, code: b.any().Detail()})
	}
	return out, nil
}

// candidates returns the records that went out under the batch's number.
func (j *job) candidates(b *claimBatch) ([]candidate, error) {
	a := b.any()
	if n, ok := envelope.ParseReplayBatch(a.BHT03.Reveal()); ok {
		s, ok, err := j.find(store.InterchangeRef(a.Envelope, n), func(s claimdlq.Submission) bool { return s.Replay })
		if err != nil {
			return nil, err
		}
		if ok {
			r, err := j.Store.Get(j.ctx, s.Members[0].First)
			return []candidate{{record: r, sub: s}}, err
		}
	}
	var out []candidate
	for _, id := range j.ids {
		ref := id.Ref("batch", a.BHT03.Reveal(), []byte(a.GroupSender), []byte(a.GroupReceiver))
		rs, err := j.Store.Lookup(j.ctx, ref, maxCandidates)
		if err != nil {
			return nil, err
		}
		for _, r := range rs {
			if r.Batch == ref && r.Scope == claimdlq.ScopeTransaction && wentOut(r) {
				out = append(out, candidate{record: r})
			}
		}
	}
	return out, nil
}

// open reads the claims of the candidate's payload, under the proof that this is
// audited.
func (j *job) open(c *candidate, proof claimdlq.Proof) error {
	if err := j.siblings(c); err != nil {
		return err
	}
	c.claims = nil
	in, unit, err := envelope.Reader(j.ctx, j.Vault, proof, c.record)
	if err != nil {
		return err
	}
	var scratch []byte
	_, err = envelope.Judge(in, j.Rules, unit, func(e *x12.Claim) {
		n := sentClaim{ordinal: e.Ordinal, clm01: bytes.Clone(e.CLM01), cents: e.AmountCents}
		if len(e.Fingerprint) > 1 {
			n.provider = bytes.Clone(e.Fingerprint[1])
			for _, id := range j.ids {
				var k claimdlq.Key
				k, scratch = lineage.Fingerprint(id, e.Fingerprint, scratch)
				n.keys = append(n.keys, k)
			}
		}
		c.claims = append(c.claims, n)
	})
	return errors.Join(err, in.Close())
}

// siblings reads the claims that parted from the candidate.
func (j *job) siblings(c *candidate) error {
	c.children = map[int]claimdlq.Record{}
	if c.record.Parted == 0 {
		return nil
	}
	children, err := j.Store.Lookup(j.ctx, claimdlq.ParentRef(c.record.ID), int(c.record.Parted)+1)
	for _, r := range children {
		if r.Parent == c.record.ID {
			c.children[int(r.Ordinal)] = r
		}
	}
	return err
}

// target returns the record that answers for the claim now.
func (c *candidate) target(ordinal int) claimdlq.Record {
	if r, ok := c.children[ordinal]; ok {
		return r
	}
	return c.record
}

// hit is one claim of one candidate.
type hit struct{ candidate, claim int }

// match finds for each answer the claim it is about. It returns the answers by
// claim, per candidate, and how many answers fit nothing or more than one thing.
// It is pure.
func match(found []candidate, b *claimBatch) ([]map[int]x12ack.Answer, int) {
	verdicts := make([]map[int]x12ack.Answer, len(found))
	for i := range verdicts {
		verdicts[i] = map[int]x12ack.Answer{}
	}
	index := map[string][]hit{}
	for i, c := range found {
		for n, cl := range c.claims {
			h := hit{i, n}
			index[string(cl.clm01)] = append(index[string(cl.clm01)], h)
			if len(cl.clm01) > returned {
				index[string(cl.clm01[:returned])] = append(index[string(cl.clm01[:returned])], h)
			}
		}
	}
	groups, order := map[string][]x12ack.Answer{}, []string{}
	for _, a := range b.claims {
		k := string(a.CLM01.Reveal())
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], a)
	}
	orphans := 0
	for _, k := range order {
		hits := narrow(found, index[k], len(groups[k]))
		if len(hits) == 0 || len(hits) != len(groups[k]) && len(hits) > 1 || len(hits) > 1 && !alike(groups[k]) {
			orphans += len(groups[k])
			continue
		}
		for i, h := range hits {
			a := groups[k][i]
			if len(hits) == 1 {
				a = groups[k][len(groups[k])-1] // the later one is the more specific
			}
			verdicts[h.candidate][found[h.candidate].claims[h.claim].ordinal] = a
		}
	}
	return verdicts, orphans + spread(found, b, verdicts)
}

// returned is how much of CLM01 a payer must give back (005010X222, CLM01 note).
const returned = 20

// narrow keeps, where more claims bear one CLM01 than there are answers, those
// that still wait for one.
func narrow(found []candidate, hits []hit, answers int) []hit {
	if len(hits) <= answers {
		return hits
	}
	var waiting []hit
	for _, h := range hits {
		c := &found[h.candidate]
		switch c.target(c.claims[h.claim].ordinal).State {
		case claimdlq.StateSubmitted, claimdlq.StateInDoubt, claimdlq.StateLeased:
			waiting = append(waiting, h)
		}
	}
	return waiting
}

// alike reports whether all answers say the same, so that it does not matter
// which claim each is about.
func alike(as []x12ack.Answer) bool {
	for _, a := range as[1:] {
		if a.Result != as[0].Result || a.Detail() != as[0].Detail() {
			return false
		}
	}
	return true
}

// spread gives a verdict on a batch or provider that is no acceptance to the
// claims that have none of their own.
func spread(found []candidate, b *claimBatch, verdicts []map[int]x12ack.Answer) (orphans int) {
	if len(found) != 1 { // a number for several sets: never guess
		if b.batch != nil && conclusive(*b.batch) {
			orphans++
		}
		for _, a := range b.providers {
			if conclusive(a) {
				orphans++
			}
		}
		return orphans
	}
	give := func(a x12ack.Answer, to func(sentClaim) bool) {
		if !conclusive(a) {
			return
		}
		for _, cl := range found[0].claims {
			if _, own := verdicts[0][cl.ordinal]; !own && to(cl) {
				verdicts[0][cl.ordinal] = a
			}
		}
	}
	for _, a := range b.providers {
		give(a, func(cl sentClaim) bool { return len(cl.provider) > 0 && bytes.Equal(cl.provider, a.Provider.Reveal()) })
	}
	if b.batch != nil {
		give(*b.batch, func(sentClaim) bool { return true })
	}
	return 0
}
