package settle

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"claimdlq"
)

// asks are the inquiries under way. An inquiry is the claim once more on its way to the
// payer: while it flies, an answer to an earlier delivery must not decide the record, or
// what waits for it would overtake the inquiry and the payer would take the claim anew.
// Such an answer is kept back until the inquiry is over. A process that ends meanwhile
// forgets it: the record is in doubt still, and the answer sealed.
type asks struct {
	mu   sync.RWMutex // held for reading while answers decide
	kept map[claimdlq.ID][]*rxAnswer
	keep sync.Mutex // of the answers in kept
}

// enter says that the records are asked about, unless one is already. An answer that
// decides now has decided when it returns.
func (a *asks) enter(rs []claimdlq.Record) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range rs {
		if _, ok := a.kept[r.ID]; ok {
			return false
		}
	}
	if a.kept == nil {
		a.kept = map[claimdlq.ID][]*rxAnswer{}
	}
	for _, r := range rs {
		a.kept[r.ID] = nil
	}
	return true
}

// leave ends the inquiry about records that entered, and returns the answers that were
// kept back.
func (a *asks) leave(rs []claimdlq.Record) (kept []*rxAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range rs {
		kept = append(kept, a.kept[r.ID]...)
		delete(a.kept, r.ID)
	}
	return kept
}

// asked reports whether the record is being asked about. The caller reads mu.
func (a *asks) asked(id claimdlq.ID) bool {
	_, ok := a.kept[id]
	return ok
}

// holds keeps an answer back where the record is being asked about. The caller reads mu.
func (a *asks) holds(id claimdlq.ID, answer *rxAnswer) bool {
	if _, ok := a.kept[id]; !ok {
		return false
	}
	a.keep.Lock()
	defer a.keep.Unlock()
	if all := a.kept[id]; len(all) < maxKept && !slices.Contains(all, answer) {
		a.kept[id] = append(all, answer)
	}
	return true
}

// maxKept bounds how many answers of one record are kept back: a claim has been
// delivered a few times.
const maxKept = 16

// keptBack does what answers say that came while an inquiry was under way.
func (j *job) keptBack(as []*rxAnswer) error {
	if len(as) == 0 {
		return nil
	}
	for _, a := range as {
		a.found = nil
	}
	ctx := j.ctx
	j.ctx = context.WithoutCancel(ctx)
	defer func() { j.ctx = ctx }()
	if err := j.rxSome(as); err != nil {
		return err
	}
	return j.close()
}

// asking returns the error of whoever comes while the submission is being asked about.
func asking(s claimdlq.Submission) error {
	return &claimdlq.Error{
		Code: claimdlq.Conflict, Op: "settle submission " + strconv.FormatUint(uint64(s.ID), 10), On: "an inquiry is under way",
		Hint: "try again when it has ended",
	}
}
