package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"claimdlq/internal/atomicfile"
	"claimdlq/internal/testclaims"
)

// x12Only and pharmacyOnly are the flags of generate that mean something in files
// of one kind only.
var (
	x12Only = []string{
		"claims-per-set", "sets-per-group", "groups", "claims-per-patient", "dependent-every", "isa13", "gs06", "st02", "delims", "newline",
	}
	pharmacyOnly = []string{
		"output-dir", "code", "transactions-per", "bin", "pcn", "vendor", "pharmacies", "compound-every", "cob-every", "partial-every", "batch-number",
	}
)

// ofFormat refuses a flag that the format has no use for: it would be ignored.
func ofFormat(c *cobra.Command, pharmacy bool) error {
	others, kind := pharmacyOnly, "837"
	if pharmacy {
		others, kind = x12Only, "pharmacy"
	}
	for _, name := range others {
		if c.Flags().Changed(name) {
			return usagef("--%s means nothing in %s files", name, kind)
		}
	}
	return nil
}

func rxFlags(f *pflag.FlagSet, g *generateFlags) {
	f.StringVar(&g.outDir, "output-dir", "", "pharmacy: `folder` for one file per transmission")
	f.StringVar(&g.rx.Code, "code", "", "pharmacy: B1, B2 (the reversals of the same claims), B3 or E1 (default B1)")
	f.IntVar(&g.rx.TransactionsPer, "transactions-per", 0, "pharmacy: claims in each transmission, 1 to 4 (default 1)")
	f.StringVar(&g.rx.BIN, "bin", "", "pharmacy: 101-A1 (default 999999)")
	f.StringVar(&g.rx.PCN, "pcn", "", "pharmacy: 104-A4 (default TESTPCN)")
	f.StringVar(&g.rx.Vendor, "vendor", "", "pharmacy: 110-AK (default TESTCERT)")
	f.IntVar(&g.rx.Pharmacies, "pharmacies", 0, "pharmacy: how many pharmacies take turns (default 1)")
	f.IntVar(&g.rx.CompoundEvery, "compound-every", 0, "pharmacy: each nth claim is a compound (default 10; -1 none)")
	f.IntVar(&g.rx.COBEvery, "cob-every", 0, "pharmacy: each nth claim was at other payers before (default 15; -1 none)")
	f.IntVar(&g.rx.PartialEvery, "partial-every", 0, "pharmacy: each nth claim is a partial fill, the next its completion (default 20; -1 none)")
	f.IntVar(&g.rx.BatchNumber, "batch-number", 0, "pharmacy: 806-5C (default 1)")
}

// resolveRx turns flags into options.
func (g *generateFlags) resolveRx() error {
	o := &g.rx
	switch strings.ToLower(g.format) {
	case "ncpdp":
	case "ncpdp-batch":
		o.Batch = true
	default:
		return usagef("--format takes 837p, 837i, 837d, ncpdp or ncpdp-batch")
	}
	if g.outDir != "" && (g.out != "" || o.Batch) {
		return usagef("--output-dir takes the place of --output, and a batch is one file")
	}
	if len(g.usage) != 1 {
		return usagef("--usage takes one character")
	}
	o.FileType, o.Claims, o.FirstClaim = g.usage[0], g.claims, g.firstID
	o.Sender, o.Receiver, o.Seed, o.Canary = g.o.Sender, g.o.Receiver, g.o.Seed, g.o.Canary
	o.Code = strings.ToUpper(o.Code)
	var err error
	if g.size != "" {
		if o.Bytes, err = parseSize(g.size); err != nil {
			return err
		}
	}
	if o.Date, err = g.day(); err != nil {
		return err
	}
	if o.Faults, err = g.wanted(testclaims.ParseRxFault); err != nil {
		return err
	}
	return o.Validate()
}

// generateRx writes pharmacy claims and says what they are.
func (s *session) generateRx(g *generateFlags) error {
	if err := g.resolveRx(); err != nil {
		return err
	}
	o := g.rx
	limit, bytes := int64(o.Claims), false
	if o.Bytes > 0 {
		limit, bytes = o.Bytes, true
	}
	bar := s.bar("generate", limit, bytes)
	if !bytes {
		o.OnClaim = func(testclaims.RxClaim) { _ = bar.Add(1) }
	}
	var st testclaims.RxStats
	var err error
	if g.outDir != "" {
		st, err = eachFile(s.path(g.outDir), o)
	} else {
		err = s.output(g.out, func(w io.Writer) (err error) {
			if bytes && g.out != "" {
				w = &metered{w, bar}
			}
			st, err = testclaims.GenerateRx(w, o)
			return err
		})
	}
	_ = bar.Finish()
	switch {
	case err != nil:
		return err
	case g.out == "" && g.outDir == "":
		s.say("generated %s, %d bytes", plural(int64(st.Claims), "claim"), st.Bytes)
		return nil
	case s.json:
		return s.printJSON(st)
	}
	_, err = fmt.Fprintf(s.env.Stdout, "%s, %s, %s, %d bytes, %s\n", plural(int64(st.Transmissions), "transmission"),
		plural(int64(st.Claims), "claim"), plural(int64(len(st.Made)), "fault"), st.Bytes, money(st.AmountCents))
	return err
}

// eachFile writes each transmission to a file of its own.
func eachFile(dir string, o testclaims.RxOptions) (testclaims.RxStats, error) {
	if err := atomicfile.MkdirAll(dir, 0o750); err != nil {
		return testclaims.RxStats{}, outputError("make the output folder", err)
	}
	st, err := testclaims.EachRx(o, func(n int, b []byte) error {
		return atomicfile.WriteFile(filepath.Join(dir, fmt.Sprintf("rx-%09d.ncpdp", n)), b, 0o640)
	})
	if err != nil {
		return st, outputError("write an output file", err)
	}
	return st, nil
}
