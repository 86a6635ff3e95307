package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// spent is what a piece of work took.
type spent struct {
	wall time.Duration
	// cpu is the processor time of this process and the servers, on all cores; it
	// varies less than wall on a machine that others use too. 0 where it is not known.
	cpu time.Duration
}

// meter measures from where it was started.
type meter struct {
	services []*service
	at       time.Time
	cpu      time.Duration
}

func startMeter(services ...*service) meter {
	m := meter{services: services}
	m.cpu = processorTime(services)
	m.at = time.Now()
	return m
}

func (m meter) spent() spent {
	wall := time.Since(m.at)
	return spent{wall, processorTime(m.services) - m.cpu}
}

// tick is the unit of /proc: USER_HZ is 100 on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// process is what /proc says of one.
type process struct {
	parent int
	ticks  int64 // its own, and those of the children it has waited for
}

// processorTime is what this process and the services, with all that they started, have
// used so far; 0 where there is no /proc to tell.
func processorTime(services []*service) time.Duration {
	all := processes()
	roots := map[int]bool{os.Getpid(): true}
	for _, s := range services {
		roots[s.cmd.Process.Pid] = true
	}
	var ticks int64
	for pid, p := range all {
		if belongs(all, pid, roots) {
			ticks += p.ticks
		}
	}
	return time.Duration(ticks) * tick
}

// belongs reports whether pid is one of the roots, or below one other than ourselves:
// other servers are below us too.
func belongs(all map[int]process, pid int, roots map[int]bool) bool {
	if roots[pid] {
		return true
	}
	self := os.Getpid()
	for at := all[pid].parent; at > 1 && at != self; at = all[at].parent {
		if roots[at] {
			return true
		}
	}
	return false
}

func processes() map[int]process {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	all := make(map[int]process, len(stats))
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended since
		}
		if pid, p, ok := parseStat(b); ok {
			all[pid] = p
		}
	}
	return all
}

// parseStat reads a line of /proc/PID/stat; the name, in parentheses, may hold anything.
func parseStat(b []byte) (pid int, p process, ok bool) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return 0, p, false
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(b[:open])))
	f := bytes.Fields(b[end+1:]) // from the third field, the state
	if err != nil || len(f) < 15 {
		return 0, p, false
	}
	if p.parent, err = strconv.Atoi(string(f[1])); err != nil {
		return 0, p, false
	}
	for _, t := range f[11:15] { // utime, stime, cutime, cstime
		n, err := strconv.ParseInt(string(t), 10, 64)
		if err != nil {
			return 0, p, false
		}
		p.ticks += n
	}
	return pid, p, true
}
