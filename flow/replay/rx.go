package replay

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/envelope"
	"claimdlq/flow/lineage"
	"claimdlq/phi"
	"claimdlq/wire/ncpdp"
)

// rxItem is one pharmacy record on its way through a replay.
type rxItem struct {
	r      *claimdlq.Record      // as it was read
	next   *claimdlq.Record      // as it is once the decision is durable; r until then
	result claimdlq.ReplayResult // Replayed while nothing stands in its way
	why    string                // more than the result says, for the audit log
	waits  bool                  // for a reversal before it, or for what it reverses
	digest claimdlq.Digest       // of the exact bytes
	bytes  int64
	due    time.Time    // from when a release of many is delivered
	many   bool         // it is released with others
	claim  *ncpdp.Claim // only where the payload was opened and says which claim it is
	clean  bool         // the current rules pass it, or passed it before
	done   bool         // the decision is durable
}

func isRx(r *claimdlq.Record) bool { return r.Format == claimdlq.FormatNCPDP }

// rx decides about pharmacy records, as they were read, and makes the decisions
// durable in as few commits as it can. What it returns is good until the next call;
// with an error, only some of it is done: Conflict says that somebody else has moved
// one of the others.
func (j *job) rx(rs []claimdlq.Record) ([]rxItem, error) {
	j.items = append(j.items[:0], make([]rxItem, len(rs))...)
	fast, slow, refused := j.fast[:0], j.slow[:0], j.refused[:0]
	for i := range rs {
		it := &j.items[i]
		it.r, it.next = &rs[i], &rs[i]
		it.result = it.r.GuardReplay(j.Policies.For(it.r.Stream), true)
		switch {
		case it.result != claimdlq.Replayed:
			refused = append(refused, it)
		case j.outside(it.r):
			fast = append(fast, it)
		default:
			slow = append(slow, it)
		}
	}
	j.fast, j.refused = fast, refused
	clear(j.opened)
	if err := j.rxCommit(refused); err != nil {
		return j.items, err
	}
	slow, err := j.rxFast(fast, slow)
	for err == nil && len(slow) > 0 {
		slow, err = j.rxSlow(slow)
	}
	j.slow = slow
	return j.items, err
}

// outside reports that the payload need not be opened to decide about the record: it
// is as it was received, rules of the same version have passed it, it went out, and
// its fill can be found by the look-up value that the record has.
func (j *job) outside(r *claimdlq.Record) bool {
	return r.PayloadRevision <= 1 && r.RuleVersion == envelope.RxRules && r.Submission != 0 &&
		r.KeyTerm == j.ids[0].Term && r.Batch != 0 && r.Scope == claimdlq.ScopeTransaction
}

// rxFast decides about records whose payload need not be opened: alone in their fill or
// apart from all in it, and sent alone before, so that the digest of their bytes is
// known. It returns rest with the others added.
func (j *job) rxFast(items, rest []*rxItem) ([]*rxItem, error) {
	if len(items) == 0 {
		return rest, nil
	}
	j.keys = j.keys[:0]
	for _, it := range items {
		j.keys = append(j.keys, lineage.RefKey(it.r.Batch))
	}
	// First hold, then look: what others commit in between is seen.
	if err := j.Guard.Hold(j.ctx, j.keys); err != nil {
		return rest, err
	}
	defer j.Guard.Free(j.keys)
	known, err := j.rxKnown(items)
	if err != nil {
		return rest, err
	}
	decided := items[:0]
	for i, it := range items {
		if known[i] {
			decided = append(decided, it)
		} else {
			rest = append(rest, it)
		}
	}
	return rest, j.rxCommit(decided)
}

// rxKnown decides about records by what the store knows, and reports of which; the
// payloads of the others must be opened.
func (j *job) rxKnown(items []*rxItem) (known []bool, err error) {
	refs := make([]claimdlq.Ref, len(items))
	for i, it := range items {
		refs[i] = it.r.Batch
	}
	sole, err := j.Store.Sole(j.ctx, refs)
	if err != nil {
		return nil, err
	}
	known = make([]bool, len(items))
	sent := make([]claimdlq.SubmissionID, 0, len(items))
	of := make([]int, 0, len(items))
	for i, it := range items {
		if sole[i] != it.r.ID {
			if apart, err := j.apart(it.r); err != nil || !apart {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		it.clean = true
		if known[i] = !j.cleared(it); !known[i] {
			sent, of = append(sent, it.r.Submission), append(of, i)
		}
	}
	if j.sent, err = j.Store.Sendings(j.ctx, sent, j.sent[:0]); err != nil {
		return nil, err
	}
	for k, i := range of {
		if it, s := items[i], &j.sent[k]; s.Record == it.r.ID && s.Digest != (claimdlq.Digest{}) {
			it.digest, it.bytes, known[i] = s.Digest, s.Bytes, true
		}
	}
	return known, nil
}

// apart reports that the record is a claim of its own among others of its fill.
func (j *job) apart(r *claimdlq.Record) (bool, error) {
	mates, err := j.Store.Lookup(j.ctx, r.Batch, lineage.MaxApart+1)
	return err == nil && lineage.Apart(*r, mates), err
}

// cleared finishes the guard: what was refused must have been corrected, or the cause
// lie outside the payload and be gone.
func (j *job) cleared(it *rxItem) bool {
	ok := j.o.Unchanged || refusedByOlderRules(*it.r, envelope.RxRules)
	it.result = it.r.GuardReplay(j.Policies.For(it.r.Stream), ok)
	if it.result == claimdlq.Replayed && !it.clean {
		it.result = claimdlq.NotCorrected
	}
	return it.result == claimdlq.Replayed
}

// rxSlow opens the payloads of the records, which is audited first, and decides by
// what is in them now. Of several of one fill it takes the first; the others are
// left for the next round, which sees what became of it.
func (j *job) rxSlow(items []*rxItem) (rest []*rxItem, err error) {
	if err := j.rxOpen(items); err != nil {
		return nil, err
	}
	keys := make([]claimdlq.Key, 0, len(items))
	refs := map[claimdlq.Ref]*rxItem{}
	decided := make([]*rxItem, 0, len(items))
	for _, it := range items {
		if it.claim == nil { // it says of no claim which it is
			it.result = claimdlq.NotCorrected
			decided = append(decided, it)
			continue
		}
		ref := it.claim.Lineage(j.ids[0])
		if refs[ref] != nil {
			rest = append(rest, it)
			continue
		}
		refs[ref] = it
		keys, decided = append(keys, lineage.RefKey(ref)), append(decided, it)
	}
	if err := j.Guard.Hold(j.ctx, keys); err != nil {
		return nil, err
	}
	defer j.Guard.Free(keys)
	for ref, it := range refs {
		if err := j.rxPlace(it, ref); err != nil {
			return nil, err
		}
	}
	return rest, j.rxCommit(decided)
}

// rxPlace asks what stands in the record's way among the records of its fill.
func (j *job) rxPlace(it *rxItem, ref claimdlq.Ref) error {
	mates, _, err := lineage.Mates(j.ctx, j.Store, j.ids, it.claim, ref)
	if err != nil {
		return err
	}
	x := lineage.Rx{Claim: it.claim, Partner: it.r.Partner, WrittenOff: j.o.WrittenOff, Open: j.rxClaim}
	got, err := x.Replay(j.ctx, j.ids, mates, *it.r)
	if gone(err) { // nobody can say whether that one is this claim
		it.result, it.why = claimdlq.DuplicateSuppressed, "ANOTHER_UNREADABLE"
		return nil
	}
	if err != nil {
		return err
	}
	it.waits = got.Waits
	switch got.Obstacle {
	case lineage.NoObstacle:
		if err := j.rxCorrected(it, mates); err != nil || it.result != claimdlq.Replayed {
			return err
		}
		j.cleared(it)
	case lineage.Overtaken:
		it.result, it.why = claimdlq.DuplicateSuppressed, "OVERTAKEN"
	case lineage.InTheWay, lineage.Crossed:
		by, err := j.Store.Get(j.ctx, got.By)
		if err != nil {
			return err
		}
		if got.Obstacle == lineage.Crossed {
			it.why = crossed
		}
		it.suppress(&by)
	}
	return nil
}

// rxOpen opens what has not been opened yet.
func (j *job) rxOpen(items []*rxItem) error {
	var open []*rxItem
	var rs []claimdlq.Record
	for _, it := range items {
		if it.bytes == 0 && it.r.Scope <= claimdlq.ScopeClaim {
			open, rs = append(open, it), append(rs, *it.r)
		}
	}
	if len(open) == 0 {
		return nil
	}
	proof, err := audited.Open(j.ctx, j.Store, j.by, claimdlq.ActOpen, j.Now().UTC(), rs...)
	if err != nil {
		return err
	}
	slices.SortFunc(open, func(a, b *rxItem) int {
		return cmp.Or(cmp.Compare(a.r.Payload.Unit, b.r.Payload.Unit), cmp.Compare(a.r.Payload.Offset, b.r.Payload.Offset))
	})
	m := ncpdp.Parse(nil)
	for len(open) > 0 {
		n, ref := nearby(open)
		if err := j.rxTogether(open[:n], ref, m, proof); err != nil {
			return err
		}
		open = open[n:]
	}
	return nil
}

// A vault opens whole pieces of a unit, of some ten kilobytes: payloads that lie close
// together are opened in one go, of at most maxSpan with gaps of at most maxGap.
const (
	maxGap  = 16 << 10
	maxSpan = 4 << 20
)

// nearby returns how many items, from the first, lie close together in one unit, and
// the range that holds them.
func nearby(items []*rxItem) (n int, ref claimdlq.PayloadRef) {
	ref = items[0].r.Payload
	for n = 1; n < len(items); n++ {
		p := items[n].r.Payload
		end := p.Offset + p.Length
		if p.Unit != ref.Unit || p.Offset > ref.Offset+ref.Length+maxGap || end > ref.Offset+maxSpan {
			break
		}
		ref.Length = max(ref.Length, end-ref.Offset)
	}
	return n, ref
}

// rxTogether opens a range and reads the documents in it. Where the range cannot be
// opened as a whole, each is opened by itself: one may be sound.
func (j *job) rxTogether(items []*rxItem, ref claimdlq.PayloadRef, m *ncpdp.Message, proof claimdlq.Proof) error {
	all, err := j.Vault.Open(j.ctx, ref, proof)
	if err != nil && !gone(err) {
		return err
	}
	for _, it := range items {
		p := it.r.Payload
		raw, ok := all.Slice(int(p.Offset-ref.Offset), int(p.Length))
		if err != nil || !ok {
			var alone error
			if raw, alone = j.Vault.Open(j.ctx, p, proof); alone != nil && !gone(alone) {
				return alone
			} else if alone != nil {
				dlqlog.Alarm(j.ctx, j.RxLog, dlqlog.AlarmPayload, *it.r)
				continue
			}
		}
		j.rxRead(it, raw, m)
		j.opened[it.r.ID] = it
	}
	return nil
}

// rxRead judges the record's document. What cannot be cut out is not sent, and said.
func (j *job) rxRead(it *rxItem, raw phi.Bytes, m *ncpdp.Message) {
	doc, err := envelope.RxCompose(m, raw, []claimdlq.Record{*it.r})
	if err != nil {
		dlqlog.Alarm(j.ctx, j.RxLog, dlqlog.AlarmPayload, *it.r)
		return
	}
	it.digest, it.bytes = j.ids[0].Digest(doc.Reveal()), int64(doc.Len())
	if m.Kind() != ncpdp.KindRequest || m.Version() != ncpdp.VersionD0 {
		return
	}
	c, fault := m.Claim(min(1, m.Groups()))
	if fault != nil {
		return
	}
	it.claim, it.clean = &c, ncpdp.OK(m.Validate())
}

// gone reports an error after which a payload is no help, now or later.
func gone(err error) bool {
	return errors.Is(err, claimdlq.NotFound) || errors.Is(err, claimdlq.Corrupt) || errors.Is(err, claimdlq.Invalid)
}

func (j *job) rxDocument(r claimdlq.Record, proof claimdlq.Proof) (phi.Bytes, error) {
	raw, err := j.Vault.Open(j.ctx, r.Payload, proof)
	if err != nil {
		return phi.Bytes{}, err
	}
	return envelope.RxDocument(raw, r)
}

// rxClaim opens another record of a fill, where keys cannot tell which claim it is. One
// that is of the same page has been opened already.
func (j *job) rxClaim(ctx context.Context, r claimdlq.Record) (ncpdp.Claim, error) {
	if it := j.opened[r.ID]; it != nil && it.claim != nil && it.r.Payload == r.Payload && it.r.Scope == r.Scope {
		return *it.claim, nil
	}
	proof, err := audited.Open(ctx, j.Store, j.by, claimdlq.ActOpen, j.Now().UTC(), r)
	if err != nil {
		return ncpdp.Claim{}, err
	}
	doc, err := j.rxDocument(r, proof)
	if err != nil {
		return ncpdp.Claim{}, err
	}
	m := ncpdp.Parse(doc.Reveal())
	c, fault := m.Claim(min(1, m.Groups()))
	if fault != nil {
		return c, fault.Err()
	}
	return c, nil
}
