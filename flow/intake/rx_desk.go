package intake

import (
	"context"
	"time"

	"claimdlq"
	"claimdlq/flow/envelope"
	"claimdlq/flow/filing"
	"claimdlq/flow/lineage"
	"claimdlq/store"
	"claimdlq/wire/ncpdp"
)

// desk is where the messages of one chunk are read, placed and made durable. Its
// memory is used again: a message costs no allocation per field.
type desk struct {
	o    *Options
	ids  []*claimdlq.Identity // cloned: one goroutine's
	sums digests              // one for each of ids, used again
	msg  *ncpdp.Message
	text map[string]string // partners and senders, interned

	faults []ncpdp.Fault // of the message being read

	ctx  context.Context
	by   claimdlq.By
	now  time.Time
	bulk bool
	dead *DeadLetter // what another pipeline hands over; nil for claims to be sent
	held bool        // of a batch: nothing goes out before its trailer was judged
	// usage and number are those of the batch, print what recognises this chunk of it.
	usage, number string
	print         *print

	messages []message
	items    []item
	bytes    int
	guard    []claimdlq.Key
	buf      []byte // what becomes the unit
	basis    filing.Basis

	batch   store.Batch
	members []claimdlq.IDRange              // of the submissions, a run each
	pending map[claimdlq.Ref]int            // the latest insert of a fill
	before  []int                           // for each insert, the one of its fill before it; -1 for none
	loose   map[claimdlq.Key]int            // those of inserts that belong to no fill, or a crowded one, by key
	origin  []int                           // the item of each insert
	moved   map[claimdlq.ID]claimdlq.Record // records that the commit updates
	done    []claimdlq.Record               // inserts as committed
	left    []claimdlq.Record               // in doubt, of a delivery that a crash ended
	revived []claimdlq.ID                   // what a broken batch held back and this one brings again
}

// message is one transmission of the chunk.
type message struct {
	raw, wrap []byte // as received; the batch record around it, or nil
	first, n  int    // its items
	response  bool   // it is an answer, and nothing of it is kept
	groups    int    // transactions it carries
	day       filing.Day
}

// item is one transaction, or a whole transmission that could not be told apart.
type item struct {
	message int
	ordinal uint32
	number  int // for ncpdp.Message.Claim; 0 for a transaction without a group
	whole   bool
	known   bool // it has a claim key
	bad     bool
	fault   claimdlq.Fault
	claims  uint32
	amount  int64
	code    [2]byte
	claim   ncpdp.Claim
	partner string
	sender  string
	digest  claimdlq.Digest
	ref     claimdlq.Ref // lineage under the current term; 0 for what has none

	status Status
	insert int // index of its record among the inserts; -1 for none
	record claimdlq.Record
	waits  bool
}

// maxText bounds how many partners and senders are interned.
const maxText = 4096

func (in *Intake) desk(ctx context.Context, by claimdlq.By) *desk {
	d, _ := in.desks.Get().(*desk)
	if d == nil {
		d = &desk{
			o: &in.o, msg: ncpdp.Parse(nil), text: map[string]string{}, pending: map[claimdlq.Ref]int{},
			loose: map[claimdlq.Key]int{}, moved: map[claimdlq.ID]claimdlq.Record{},
		}
		for _, id := range in.o.Identities {
			d.ids = append(d.ids, id.Clone())
		}
		d.sums = newDigests(d.ids)
	}
	d.ctx, d.by = ctx, by
	return d
}

// leaveDesk gives the desk back, with no claim left on it.
func (in *Intake) leaveDesk(d *desk) {
	d.clear()
	d.msg.Reset(nil)
	d.sums.reset()
	d.ctx, d.by, d.bulk, d.dead, d.held, d.usage, d.number = nil, claimdlq.By{}, false, nil, false, "", ""
	in.desks.Put(d)
}

// clear forgets the chunk.
func (d *desk) clear() {
	clear(d.messages)
	clear(d.items)
	clear(d.buf)
	d.basis.Clear()
	d.messages, d.items, d.guard, d.buf, d.bytes = d.messages[:0], d.items[:0], d.guard[:0], d.buf[:0], 0
	if cap(d.buf) > 2*chunkBytes {
		d.buf = nil
	}
	d.members = nil // the store may keep them
	d.batch = store.Batch{Insert: d.batch.Insert[:0], Entries: d.batch.Entries[:0], NewSubmissions: d.batch.NewSubmissions[:0]}
	d.print, d.done, d.left, d.revived, d.origin, d.before = nil, nil, nil, nil, d.origin[:0], d.before[:0]
	clear(d.pending)
	clear(d.loose)
	clear(d.moved)
	if len(d.text) > maxText {
		clear(d.text)
	}
}

// full reports whether the chunk should be made durable.
func (d *desk) full() bool { return len(d.messages) >= chunkMessages || d.bytes >= chunkBytes }

// intern returns the bytes as a string without making the same one twice.
func (d *desk) intern(b []byte) string {
	if s, ok := d.text[string(b)]; ok {
		return s
	}
	s := string(b)
	d.text[s] = s
	return s
}

// flush places every transaction of the chunk and makes it durable: payloads first,
// then records, submissions and audit entries in one commit. The fills are held from
// before they are looked up until they are committed.
func (d *desk) flush() error {
	if len(d.messages) == 0 {
		return nil
	}
	d.now = d.o.Now().UTC()
	if err := d.o.Guard.Hold(d.ctx, d.guard); err != nil {
		return err
	}
	defer d.o.Guard.Free(d.guard)
	for i := range d.messages {
		if err := d.place(i); err != nil {
			return err
		}
	}
	return d.commit()
}

// commit makes what was placed durable.
func (d *desk) commit() error {
	if err := mend(d.ctx, d.o.Store, d.left, d.now); err != nil {
		return err // before the chunk is recognised by what follows
	}
	b := &d.batch
	if d.print != nil {
		b.Fingerprints = append(b.Fingerprints, d.print.of(d)...)
	}
	if len(d.buf) > 0 || len(b.Insert) > 0 {
		if err := d.seal(); err != nil {
			return err
		}
	}
	if len(b.Insert)+len(b.Update)+len(b.Entries)+len(b.Fingerprints) == 0 {
		return nil
	}
	receipt, err := d.o.Store.Commit(d.ctx, *b)
	if err != nil {
		return err
	}
	d.done = b.Insert
	for i, in := range receipt.Inserted {
		if in.Status != store.Inserted {
			// The guard keeps others of this process away; what is left are bytes that no
			// claim key identifies, given twice at one moment. What came with them is safe.
			return &claimdlq.Error{Code: claimdlq.Conflict, Op: "take in message", On: "it came twice at the same moment", Hint: "give it again; nothing is taken in twice"}
		}
		d.done[i].ID = in.ID
	}
	d.log()
	if d.dead.doubts() {
		return d.doubt(receipt)
	}
	return nil
}

// seal seals the chunk's unit and points its records at it.
func (d *desk) seal() error {
	ref, err := d.o.Vault.StageWith(wrapped(d.buf), d.basis.Seal())
	if err != nil {
		return err
	}
	if err := d.o.Vault.Sync(d.ctx); err != nil {
		return err
	}
	for i := range d.batch.Insert {
		d.batch.Insert[i].Payload.Unit = ref.Unit
	}
	return nil
}

// rules is the rule version of the records that are made here.
const rules = envelope.RxRules

// heldFor is how long a claim that waits for another of its fill is left alone.
const heldFor = 5 * time.Second

var (
	detailLineage = claimdlq.NewDetail("LINEAGE")
	detailF6      = claimdlq.NewDetail("NCPDP:F6:ROUTE")
	detailCrowded = claimdlq.NewDetail("LINEAGE:CROWDED")
	detailAnswer  = claimdlq.NewDetail("NCPDP:RESPONSE_AMONG_CLAIMS")
)

// rx is the item as package lineage knows it.
func (d *desk) rx(it *item) lineage.Rx {
	return lineage.Rx{
		Claim: &it.claim, Partner: it.partner, Open: d.open, Sent: d.dead.doubts(),
		Digest: func(term uint32) claimdlq.Digest { return d.digest(it, term) },
	}
}
