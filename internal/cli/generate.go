package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/internal/atomicfile"
	"claimdlq/internal/testclaims"
	"claimdlq/wire/x12"
)

// generateFlags are the flags of generate that are not yet options.
type generateFlags struct {
	o                                   testclaims.Options
	out, format, size, newline, date    string
	delims, usage                       string
	faults                              []string
	list                                bool
	claims, claimsPerSet, sets, groups  int
	isa13, gs06, st02                   uint32
	dependentEvery, perPatient, firstID int
	rx                                  testclaims.RxOptions
	outDir                              string
}

func newGenerate(s *session) *cobra.Command {
	var g generateFlags
	c := &cobra.Command{
		Use:   "generate",
		Short: "Write synthetic claims, 837 or pharmacy, clean or with chosen faults",
		Long: `Generate writes a file of made-up claims. The same flags write the same bytes.
Faults are named NAME, NAME@3,17 (in the 3rd and 17th place) or NAME/100 (in each 100th);
--list-faults shows those of the --format. With --output or --output-dir the counts are
printed, or as JSON which claims are bad and what a validator must say; without them the
file goes to standard output.

Of pharmacy claims (NCPDP Telecommunication D.0) --format ncpdp-batch writes a file of the
Batch standard 1.2; --format ncpdp writes one transmission as it is sent, several into
files of their own with --output-dir, or one after the other between STX and ETX.`,
		Example: `  claimdlq generate --claims 100 --fault missing-hi@7 --output claims.x12
  claimdlq generate --size 200MB --newline lf --output big.x12
  claimdlq generate --format ncpdp --claims 4 --transactions-per 4 --output b1.ncpdp
  claimdlq generate --format ncpdp-batch --claims 1000 --fault bad-money/100 --output batch.ncpdp`,
		RunE: func(c *cobra.Command, _ []string) error {
			pharmacy := strings.HasPrefix(strings.ToLower(g.format), "ncpdp")
			if err := ofFormat(c, pharmacy); err != nil {
				return err
			}
			if g.list {
				return s.listFaults(pharmacy)
			}
			if s.json && g.out == "" && g.outDir == "" {
				return usagef("--json needs --output: standard output is the file")
			}
			if pharmacy {
				return s.generateRx(&g)
			}
			if err := g.resolve(); err != nil {
				return err
			}
			return s.generate(g.out, g.o)
		},
	}
	f := c.Flags()
	f.StringVarP(&g.out, "output", "o", "", "`file` to write (default: standard output)")
	f.StringVar(&g.format, "format", "837p", "837p, 837i, 837d, ncpdp or ncpdp-batch")
	f.IntVar(&g.claims, "claims", 0, "stop after so many claims (default 1)")
	f.StringVar(&g.size, "size", "", "stop at about this `size`, such as 200MB")
	f.Uint64Var(&g.o.Seed, "seed", 0, "what decides the random choices")
	f.StringArrayVar(&g.faults, "fault", nil, "`fault` to make; may be given again")
	f.BoolVar(&g.list, "list-faults", false, "list the faults and exit")
	f.BoolVar(&g.o.Canary, "canary", false, "mark every field that could hold PHI")
	f.IntVar(&g.claimsPerSet, "claims-per-set", 0, "claims in each transaction set (default 50)")
	f.IntVar(&g.sets, "sets-per-group", 0, "transaction sets in each group (default 200)")
	f.IntVar(&g.groups, "groups", 0, "groups in each interchange (default 1)")
	f.IntVar(&g.perPatient, "claims-per-patient", 0, "claims of each patient (default 1)")
	f.IntVar(&g.dependentEvery, "dependent-every", 0, "each nth patient is a dependent (default 10; -1 none)")
	f.StringVar(&g.o.Sender, "sender", "", "ISA06 and GS02, or 880-K1 of a batch (default TESTSENDER)")
	f.StringVar(&g.o.Receiver, "receiver", "", "ISA08 and GS03, or 880-K7 of a batch (default TESTPAYER)")
	f.Uint32Var(&g.isa13, "isa13", 0, "first interchange number (default 1)")
	f.Uint32Var(&g.gs06, "gs06", 0, "first group number (default 1)")
	f.Uint32Var(&g.st02, "st02", 0, "first set number in each group (default 1)")
	f.IntVar(&g.firstID, "first-claim", 0, "number in the first CLM01, or the first prescription number (default 1)")
	f.StringVar(&g.date, "date", "", "date of the envelopes, `YYYY-MM-DD`; services lie in the 60 days before it (default 2026-07-17)")
	f.StringVar(&g.usage, "usage", "T", "ISA15, or 702-MC of a batch")
	f.StringVar(&g.delims, "delims", "*:~^", "element, component and segment `delimiters`, and the repetition separator")
	f.StringVar(&g.newline, "newline", "none", "after each segment: none, lf, crlf or cr")
	rxFlags(f, &g)
	return c
}

// resolve turns flags into options.
func (g *generateFlags) resolve() error {
	formats := map[string]claimdlq.Format{"837p": claimdlq.Format837P, "837i": claimdlq.Format837I, "837d": claimdlq.Format837D}
	newlines := map[string]string{"none": "", "lf": "\n", "crlf": "\r\n", "cr": "\r"}
	o := &g.o
	var ok bool
	if o.Format, ok = formats[strings.ToLower(g.format)]; !ok {
		return usagef("--format takes 837p, 837i, 837d, ncpdp or ncpdp-batch")
	}
	suffix, ok := newlines[g.newline]
	if !ok {
		return usagef("--newline takes none, lf, crlf or cr")
	}
	if len(g.delims) != 4 || len(g.usage) != 1 {
		return usagef("--delims takes four characters, --usage one")
	}
	o.Delims = x12.Delims{Element: g.delims[0], Component: g.delims[1], Segment: g.delims[2], Repetition: g.delims[3], Suffix: suffix}
	o.Usage = g.usage[0]
	if g.size != "" {
		n, err := parseSize(g.size)
		if err != nil {
			return err
		}
		o.Bytes = n
	}
	var err error
	if o.Date, err = g.day(); err != nil {
		return err
	}
	if o.Faults, err = g.wanted(testclaims.ParseFault); err != nil {
		return err
	}
	o.Claims, o.ClaimsPerSet, o.SetsPerGroup, o.GroupsPerInterchange = g.claims, g.claimsPerSet, g.sets, g.groups
	o.ClaimsPerPatient, o.DependentEvery, o.FirstClaim = g.perPatient, g.dependentEvery, g.firstID
	o.ISA13, o.GS06, o.ST02 = g.isa13, g.gs06, g.st02
	return o.Validate()
}

// day returns the date of the file at noon; the zero time for the default.
func (g *generateFlags) day() (time.Time, error) {
	if g.date == "" {
		return time.Time{}, nil
	}
	d, err := time.Parse(time.DateOnly, g.date)
	if err != nil {
		return time.Time{}, usagef("--date takes YYYY-MM-DD")
	}
	return d.Add(12 * time.Hour), nil
}

// wanted returns the faults that are asked for.
func (g *generateFlags) wanted(parse func(string) (testclaims.Fault, error)) (all []testclaims.Fault, err error) {
	for _, name := range g.faults {
		f, err := parse(name)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// parseSize reads 1000, 64KB or 200MB: multiples of 1,000.
func parseSize(s string) (int64, error) {
	number, unit := strings.ToUpper(s), int64(1)
	for _, u := range []struct {
		name string
		size int64
	}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}} {
		if n, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = n, u.size
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n <= 0 || n > (1<<62)/unit {
		return 0, usagef("--size takes a number of bytes, KB, MB or GB")
	}
	return n * unit, nil
}

// generate writes the file and says what it holds.
func (s *session) generate(path string, o testclaims.Options) error {
	limit, bytes := int64(o.Claims), false
	if o.Bytes > 0 {
		limit, bytes = o.Bytes, true
	}
	bar := s.bar("generate", limit, bytes)
	if !bytes {
		o.OnClaim = func(testclaims.Claim) { _ = bar.Add(1) }
	}
	var st testclaims.Stats
	err := s.output(path, func(w io.Writer) (err error) {
		if bytes && path != "" {
			w = &metered{w, bar}
		}
		st, err = testclaims.Generate(w, o)
		return err
	})
	_ = bar.Finish()
	if err != nil {
		return err
	}
	if path == "" {
		s.say("generated %s, %d bytes", plural(int64(st.Claims), "claim"), st.Bytes)
		return nil
	}
	if s.json {
		return s.printJSON(st)
	}
	_, err = fmt.Fprintf(s.env.Stdout, "%s, %s, %s, %s, %s, %s bytes, %s\n",
		plural(int64(st.Interchanges), "interchange"), plural(int64(st.Groups), "group"), plural(int64(st.Sets), "transaction set"),
		plural(int64(st.Claims), "claim"), plural(int64(len(st.Made)), "fault"), strconv.FormatInt(st.Bytes, 10), money(st.AmountCents))
	return err
}

// output runs write on a file that appears whole or not at all, or on standard output.
func (s *session) output(path string, write func(io.Writer) error) error {
	if path == "" {
		if err := write(s.env.Stdout); err != nil {
			return outputError("write claims", err)
		}
		return nil
	}
	f, err := atomicfile.Create(s.path(path), 0o640)
	if err != nil {
		return outputError("create the output file", err)
	}
	defer f.Abort()
	if err = write(f); err == nil {
		err = f.Commit()
	}
	if err != nil {
		return outputError("write the output file", err)
	}
	return nil
}

// metered shows on a bar what passes to w. The last claim may pass the bar's end.
type metered struct {
	w   io.Writer
	bar *progressbar.ProgressBar
}

func (m *metered) Write(p []byte) (int, error) {
	n, err := m.w.Write(p)
	_ = m.bar.Add(n)
	return n, err
}

// outputError gives a failure to write its code and drops the path it names.
func outputError(op string, err error) error {
	if _, ours := errors.AsType[*claimdlq.Error](err); ours {
		return err
	}
	return inputError(op, "", err)
}

func (s *session) listFaults(pharmacy bool) error {
	var rows [][]string
	if pharmacy {
		kinds := testclaims.RxCatalog()
		if s.json {
			return s.printJSON(kinds)
		}
		for _, k := range kinds {
			rows = append(rows, []string{k.Name, string(k.Scope), k.What})
		}
		return s.table("NAME SCOPE WHAT", rows)
	}
	kinds := testclaims.Catalog()
	if s.json {
		return s.printJSON(kinds)
	}
	for _, k := range kinds {
		rows = append(rows, []string{k.Name, string(k.Scope), k.What})
	}
	return s.table("NAME SCOPE WHAT", rows)
}
