package job

import "claimdlq"

const maxSubscribers = 64 // of a job

// Subscribe returns where a job stands, now and whenever that changes. The channel
// holds one snapshot: who is slow gets the latest and misses others. It is closed when
// nothing more will change, after the last one. The caller ends it with the function.
// Errors: NotFound, Corrupt, Unavailable (too many listen).
func (s *Jobs) Subscribe(id ID) (<-chan Progress, func(), error) {
	j, err := s.find(id)
	if err != nil {
		return nil, nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.subs) >= maxSubscribers {
		return nil, nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "follow job", On: "too many listen", Hint: "try later"}
	}
	ch := make(chan Progress, 1)
	p := *j.snap.Load()
	ch <- p
	if !p.Watching || j.log == nil {
		close(ch)
		return ch, func() {}, nil
	}
	j.subs[ch] = struct{}{}
	return ch, func() { j.unsubscribe(ch) }, nil
}

func (j *job) unsubscribe(ch chan Progress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := j.subs[ch]; ok {
		delete(j.subs, ch)
		close(ch)
	}
}

// publish makes the snapshot anew and tells who listens.
func (j *job) publish() {
	j.seq++
	j.tell(j.progress())
}

func (j *job) tell(p *Progress) {
	j.snap.Store(p)
	for ch := range j.subs {
		select { // only this sends, under mu, so that there is room once it is empty
		case <-ch:
		default:
		}
		ch <- *p
		if !p.Watching {
			delete(j.subs, ch)
			close(ch)
		}
	}
}
