package job

import (
	"claimdlq"
)

// ItemQuery selects items of a job, in the order of the plan.
type ItemQuery struct {
	From  int // index of the first that is looked at
	Limit int // at most 1,000, which is the default
	// Result, End and Verdict, if not nil, select by equality.
	Result  *Result
	End     *End
	Verdict *Result
}

func (q *ItemQuery) takes(it *Item) bool {
	return (q.Result == nil || *q.Result == it.Result) && (q.End == nil || *q.End == it.End) && (q.Verdict == nil || *q.Verdict == it.Verdict)
}

const itemsPage = 1000

// Items returns what became of the records of a job, and the From of the next page, -1
// where there is none. Errors: NotFound, Corrupt, Unavailable, Invalid.
func (s *Jobs) Items(id ID, q ItemQuery) (items []Item, next int, err error) {
	if q.From < 0 || q.Limit < 0 || q.Limit > itemsPage {
		return nil, -1, &claimdlq.Error{Code: claimdlq.Invalid, Op: "list items of job", Hint: "from: not negative; limit: at most 1000"}
	}
	or(&q.Limit, itemsPage)
	j, err := s.find(id)
	if err != nil {
		return nil, -1, err
	}
	v, err := j.view()
	if err != nil {
		return nil, -1, err
	}
	defer v.file.close()
	var page []Item
	for at := q.From; at < v.file.plan.Items; {
		if page, err = v.file.items(page[:0], at, itemsPage); err != nil {
			return nil, -1, err
		}
		for i := range page {
			it := &page[i]
			at = it.Index + 1
			v.fill(it)
			if !q.takes(it) {
				continue
			}
			if len(items) == q.Limit {
				return items, it.Index, nil
			}
			items = append(items, *it)
		}
	}
	return items, -1, nil
}

// view is what items are made of.
type view struct {
	file     *planFile
	results  []Result
	ends     []End
	verdicts []byte
}

func (v *view) fill(it *Item) {
	if v.results != nil {
		it.Result, it.End = v.results[it.Index], v.ends[it.Index]
	}
	switch {
	case v.file.plan.Act != Replay:
		it.Verdict = v.file.plan.Act.verdict(it.State)
	case v.verdicts != nil:
		it.Verdict = Result(v.verdicts[it.Index])
	}
}

// view copies what there is, or reads it from the journal of a job that is over.
func (j *job) view() (*view, error) {
	v := &view{}
	var err error
	if v.verdicts, err = j.verdicts(); err != nil {
		return nil, err
	}
	if v.file, err = openPlan(j.s.path(j.id, extPlan), false); err != nil {
		return nil, err
	}
	j.mu.Lock()
	live := j.log != nil
	v.results, v.ends = append(v.results, j.results...), append(v.ends, j.ends...)
	j.mu.Unlock()
	if live {
		return v, nil
	}
	past := newJob(j.s, j.id)
	past.plan = v.file.plan
	if err := readJournal(j.s.path(j.id, extJournal), past.frame); err != nil {
		v.file.close()
		return nil, err
	}
	v.results, v.ends = past.results, past.ends
	return v, nil
}
