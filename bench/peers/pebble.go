package main

import (
	"context"
	"crypto/cipher"
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// pebbleEngine: Sync commits, memtable 64 MiB, cache 128 MiB; record, key, three secondary
// indexes, payload and audit entry in one batch.
type pebbleEngine struct {
	db  *pebble.DB
	kek cipher.AEAD
	ch  chain
	seq int64
	g   *grouper
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(f string, _ ...any) {
	panic(f)
}

func openPebble(dir string) (engine, error) {
	cache := pebble.NewCache(128 << 20)
	defer cache.Unref()
	db, err := pebble.Open(dir, &pebble.Options{Cache: cache, MemTableSize: 64 << 20, Logger: quiet{}})
	if err != nil {
		return nil, err
	}
	e := &pebbleEngine{db: db, kek: newKEK()}
	e.g = newGrouper(e.commit)
	return e, nil
}

func pk(kind byte, parts ...int64) []byte {
	b := []byte{kind}
	for _, p := range parts {
		b = binary.BigEndian.AppendUint64(b, uint64(p))
	}
	return b
}

func encode(r row) []byte {
	b := []byte{byte(r.state), byte(r.reason), byte(r.partner), 0}
	b = binary.BigEndian.AppendUint64(b, uint64(r.created))
	for _, s := range []string{r.key, r.isa13, r.st02, r.rule, r.detail, r.ref, string(r.extra)} {
		b = append(b, byte(len(s)))
		b = append(b, s...)
	}
	return b
}

func (e *pebbleEngine) put(b *pebble.Batch, n int64, sealed []byte) error {
	r := mkRow(n)
	e.seq++
	var errs []error
	set := func(k, v []byte) { errs = append(errs, b.Set(k, v, nil)) }
	if _, c, err := e.db.Get(append([]byte{'k'}, r.key...)); err == nil {
		return c.Close()
	}
	set(pk('r', n), encode(r))
	set(append([]byte{'k'}, r.key...), pk('r', n))
	set(pk('s', r.state, r.created, n), nil)
	set(pk('t', r.state, r.reason, r.created, n), nil)
	set(pk('u', r.state, r.partner, r.created, n), nil)
	if len(sealed) > 0 {
		set(pk('p', n), sealed)
	}
	set(pk('a', e.seq), append(pk(0, n, r.created), e.ch.next("quarantine", n)...))
	return errors.Join(errs...)
}

func (e *pebbleEngine) change(b *pebble.Batch, n int64) error {
	r := mkRow(n)
	if _, c, err := b.Get(append([]byte{'k'}, r.key...)); err != nil {
		return err
	} else if err := c.Close(); err != nil {
		return err
	}
	v, c, err := b.Get(pk('r', n))
	if err != nil {
		return err
	}
	nv := append([]byte(nil), v...)
	if err := c.Close(); err != nil {
		return err
	}
	old, to := int64(nv[0]), int64(nv[0]+1)%3
	nv[0] = byte(to)
	e.seq++
	return errors.Join(
		b.Set(pk('r', n), nv, nil),
		b.Delete(pk('s', old, r.created, n), nil), b.Set(pk('s', to, r.created, n), nil, nil),
		b.Delete(pk('t', old, r.reason, r.created, n), nil), b.Set(pk('t', to, r.reason, r.created, n), nil, nil),
		b.Delete(pk('u', old, r.partner, r.created, n), nil), b.Set(pk('u', to, r.partner, r.created, n), nil, nil),
		b.Set(pk('a', e.seq), append(pk(0, n, r.created), e.ch.next("transition", n)...), nil))
}

func (e *pebbleEngine) commit(batch []*op) error {
	b := e.db.NewIndexedBatch()
	defer b.Close()
	for _, o := range batch {
		var err error
		if o.sealed == nil {
			err = e.change(b, o.n)
		} else {
			err = e.put(b, o.n, o.sealed)
		}
		if err != nil {
			return err
		}
	}
	return b.Commit(pebble.Sync)
}

func (e *pebbleEngine) Insert(_ context.Context, n int64, payload []byte) error {
	return e.g.do(n, seal(e.kek, payload))
}

func (e *pebbleEngine) Change(_ context.Context, n int64) error { return e.g.do(n, nil) }

func (e *pebbleEngine) Load(_ context.Context, from, to int64) error {
	for from < to {
		b := e.db.NewBatch()
		for end := min(from+5000, to); from < end; from++ {
			if err := e.put(b, from, nil); err != nil {
				return err
			}
		}
		if err := b.Commit(pebble.Sync); err != nil {
			return err
		}
	}
	return nil
}

func (e *pebbleEngine) Close() error { e.g.close(); return e.db.Close() }
