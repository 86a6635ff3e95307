package main

import (
	"context"
	"crypto/cipher"
	"database/sql"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the database/sql driver
)

const schema = `
CREATE TABLE rec(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, isa13 TEXT, st02 TEXT, reason INT, partner INT, state INT, created INT, replay INT, rule TEXT, detail TEXT, ref TEXT, extra BLOB);
CREATE INDEX i_sc ON rec(state, created);
CREATE INDEX i_src ON rec(state, reason, created);
CREATE INDEX i_spc ON rec(state, partner, created);
CREATE TABLE payload(id INTEGER PRIMARY KEY, data BLOB);
CREATE TABLE audit(seq INTEGER PRIMARY KEY, rec INT, ts INT, actor TEXT, action TEXT, hash BLOB);`

// sqlite: WAL, synchronous=FULL (durable), 8 KiB pages, 128 MiB cache, a checkpoint every 4000 pages.
type sqliteEngine struct {
	db                 *sql.DB
	ins, pay, aud, upd *sql.Stmt
	kek                cipher.AEAD
	ch                 chain
	g                  *grouper
}

func openSQLite(dir string) (engine, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "q.db"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	for _, p := range []string{"page_size=8192", "journal_mode=WAL", "synchronous=FULL", "cache_size=-131072", "wal_autocheckpoint=4000", "temp_store=MEMORY"} {
		if _, err := db.Exec("PRAGMA " + p); err != nil {
			return nil, err
		}
	}
	if _, err := db.Exec(schema); err != nil {
		return nil, err
	}
	e := &sqliteEngine{db: db, kek: newKEK()}
	for _, s := range []struct {
		stmt **sql.Stmt
		q    string
	}{
		{&e.ins, `INSERT INTO rec(id,key,isa13,st02,reason,partner,state,created,replay,rule,detail,ref,extra) VALUES(?,?,?,?,?,?,0,?,0,?,?,?,?) ON CONFLICT(key) DO NOTHING`},
		{&e.pay, `INSERT INTO payload(id,data) VALUES(?,?)`},
		{&e.aud, `INSERT INTO audit(rec,ts,actor,action,hash) VALUES(?,?,?,?,?)`},
		{&e.upd, `UPDATE rec SET state=(state+1)%3, replay=replay+1 WHERE key=?`},
	} {
		if *s.stmt, err = db.Prepare(s.q); err != nil {
			return nil, err
		}
	}
	e.g = newGrouper(e.commit)
	return e, nil
}

func (e *sqliteEngine) commit(batch []*op) error {
	tx, err := e.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, o := range batch {
		r := mkRow(o.n)
		if o.sealed == nil {
			if _, err := tx.Stmt(e.upd).Exec(r.key); err != nil {
				return err
			}
			if _, err := tx.Stmt(e.aud).Exec(o.n, r.created, "analyst", "transition", e.ch.next("transition", o.n)); err != nil {
				return err
			}
			continue
		}
		if err := e.insert(tx, o.n, r, o.sealed); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (e *sqliteEngine) insert(tx *sql.Tx, n int64, r row, sealed []byte) error {
	if _, err := tx.Stmt(e.ins).Exec(n, r.key, r.isa13, r.st02, r.reason, r.partner, r.created, r.rule, r.detail, r.ref, r.extra); err != nil {
		return err
	}
	if len(sealed) > 0 {
		if _, err := tx.Stmt(e.pay).Exec(n, sealed); err != nil {
			return err
		}
	}
	_, err := tx.Stmt(e.aud).Exec(n, r.created, "system", "quarantine", e.ch.next("quarantine", n))
	return err
}

func (e *sqliteEngine) Insert(_ context.Context, n int64, payload []byte) error {
	return e.g.do(n, seal(e.kek, payload))
}

func (e *sqliteEngine) Change(_ context.Context, n int64) error { return e.g.do(n, nil) }

func (e *sqliteEngine) Load(_ context.Context, from, to int64) error {
	for from < to {
		tx, err := e.db.Begin()
		if err != nil {
			return err
		}
		for end := min(from+5000, to); from < end; from++ {
			if err := e.insert(tx, from, mkRow(from), nil); err != nil {
				_ = tx.Rollback()
				return err
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

func (e *sqliteEngine) Close() error { e.g.close(); return e.db.Close() }
