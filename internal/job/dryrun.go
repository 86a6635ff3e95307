package job

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"time"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/replay"
	"claimdlq/internal/atomicfile"
	"claimdlq/internal/background"
)

const dryPage = 1024

// DryRun decides about every record of a planned job as a run would, through the
// validator and the guard, changes none, and keeps each verdict with the plan in place
// of an earlier dry run's. Opened payloads are audited. It takes as long as it takes:
// follow it with Subscribe. Errors: NotFound, Conflict (it is not planned, or a dry run
// is under way), Refused (no name or reason), Unavailable, and what ends ctx.
func (s *Jobs) DryRun(ctx context.Context, by claimdlq.By, id ID) (Progress, error) {
	const op = "dry-run job"
	if err := audited.Named(by, op); err != nil {
		return Progress{}, err
	}
	var j *job
	var before map[string]int
	var beforeAt time.Time
	p, err := s.change(id, op, func(it *job) error {
		if it.state != Planned || it.drying {
			return it.refuse(op)
		}
		if it.plan.Act != Replay {
			return &claimdlq.Error{Code: claimdlq.Refused, Op: op, On: "it is no replay", Hint: "its plan says what would become of each"}
		}
		j, it.drying = it, true
		before, beforeAt, it.dry, it.dryAt = it.dry, it.dryAt, nil, time.Time{}
		return s.audit(ctx, by, "DRY_RUN", &it.plan, &it.plan.Digest)
	})
	if j == nil {
		return p, err
	}
	var verdicts []byte
	if err == nil {
		verdicts, err = j.dryRun(ctx, by)
	}
	return s.change(id, op, func(*job) error {
		j.drying = false
		if err != nil {
			j.dry, j.dryAt = before, beforeAt
			j.publish()
			return err
		}
		return j.keepDry(verdicts)
	})
}

func (j *job) dryRun(ctx context.Context, by claimdlq.By) ([]byte, error) {
	file, err := openPlan(j.s.path(j.id, extPlan), false)
	if err != nil {
		return nil, err
	}
	defer file.close()
	verdicts := make([]byte, 0, j.plan.Items)
	for from := 0; from < j.plan.Items; from += dryPage {
		items, err := file.items(nil, from, dryPage)
		if err != nil {
			return nil, err
		}
		page, err := j.dryPage(ctx, by, items)
		if err != nil {
			return nil, err
		}
		verdicts = append(verdicts, page...)
		j.mu.Lock()
		j.dry = countDry(verdicts)
		j.publish()
		j.mu.Unlock()
	}
	return verdicts, nil
}

func (j *job) dryPage(ctx context.Context, by claimdlq.By, items []Item) ([]byte, error) {
	out := make([]byte, len(items))
	ended := func() bool { return ctx.Err() != nil }
	err := background.Each(len(items), j.s.c.Workers, ended, func(i int) error {
		r, err := j.decide(ctx, by, &items[i], replay.Options{Unchanged: j.plan.Policy.Unchanged, DryRun: true}, false, false)
		out[i] = byte(r)
		return err
	})
	return out, cmp.Or(context.Cause(ctx), err)
}

// keepDry makes verdicts durable.
func (j *job) keepDry(verdicts []byte) error {
	sum := sha256.Sum256(verdicts)
	if err := atomicfile.WriteFile(j.s.path(j.id, extDry), append(verdicts, sum[:]...), 0o600); err != nil {
		return j.s.fatal(ioError("write dry run", err), err)
	}
	return j.write(event{What: evDry, At: j.s.now(), Counts: countDry(verdicts)})
}

func countDry(verdicts []byte) map[string]int {
	var n [results]int
	for _, v := range verdicts {
		n[v]++
	}
	out := map[string]int{}
	for r := NotYet + 1; r < results; r++ {
		if n[r] > 0 {
			out[r.String()] = n[r]
		}
	}
	return out
}

// verdicts returns those of the last dry run, nil where there was none.
func (j *job) verdicts() ([]byte, error) {
	b, err := os.ReadFile(j.s.path(j.id, extDry))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, ioError("read dry run", err)
	}
	if len(b) != j.plan.Items+sha256.Size {
		return nil, errDry
	}
	v, want := b[:j.plan.Items], b[j.plan.Items:]
	sum := sha256.Sum256(v)
	if !bytes.Equal(sum[:], want) {
		return nil, errDry
	}
	return v, nil
}

var errDry = &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read dry run", Hint: "make another"}
