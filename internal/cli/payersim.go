package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"claimdlq/internal/payersim"
)

// payersimFlags are where the payer takes claims and how it behaves.
type payersimFlags struct {
	listen, in, acks string
	script, journal  string
	rules            []string
	poll             time.Duration
}

func newPayersim(s *session) *cobra.Command {
	var f payersimFlags
	c := &cobra.Command{
		Use:   "payersim",
		Short: "Play a payer of 837 and pharmacy claims, for tests and demonstrations",
		Long: `Payersim takes interchanges over HTTP (POST /v1/interchanges), from a folder, or both,
and answers with TA1, 999 and 277CA. Pharmacy claims it takes over HTTP, one transmission
(POST /v1/ncpdp) or one batch (POST /v1/ncpdp/batch) each, and adjudicates at once. It
remembers every claim it accepted or paid: GET /v1/accepted and /v1/duplicates show them,
and its last words are the counts. It holds claims in clear: give it synthetic ones only.

` + payersim.ScriptHelp,
		Example: `  claimdlq payersim --listen 127.0.0.1:8437 --rule 'request */5 drop'
  claimdlq payersim --in out/ --acks acks/ --script payer.txt
  claimdlq payersim --listen 127.0.0.1:8437 --rule 'time 10s-70s reject 92' --rule 'claim 5% reject 70'`,
		RunE: func(c *cobra.Command, _ []string) error { return s.payersim(c.Context(), f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.listen, "listen", "", "take claims over HTTP at this `address`, such as 127.0.0.1:8437")
	fl.StringVar(&f.in, "in", "", "take claims from this `folder`")
	fl.StringVar(&f.acks, "acks", "", "put acknowledgments into this `folder`")
	fl.StringVar(&f.script, "script", "", "`file` of rules")
	fl.StringArrayVar(&f.rules, "rule", nil, "a `rule` of the script; may be given again")
	fl.StringVar(&f.journal, "journal", "", "`file` in which it remembers what it accepted (default: memory only)")
	fl.DurationVar(&f.poll, "poll", time.Second, "how often the folder is looked at")
	return c
}

// payersim runs the payer until it is interrupted.
func (s *session) payersim(ctx context.Context, f payersimFlags) error {
	switch {
	case f.listen == "" && f.in == "":
		return usagef("payersim needs --listen, --in or both")
	case f.in != "" && f.acks == "":
		return usagef("--in needs --acks, for the acknowledgments")
	case f.poll <= 0:
		return usagef("--poll takes a duration such as 1s")
	}
	script, err := s.payerScript(f)
	if err != nil {
		return err
	}
	p, err := payersim.New(payersim.Options{Script: script, Journal: f.journal, Now: s.env.Now, AckDir: f.acks})
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	if err := s.runPayer(ctx, p, f); err != nil {
		return err
	}
	st := p.Stats()
	if s.json {
		return s.printJSON(st)
	}
	_, err = fmt.Fprintf(s.env.Stdout, "%s, %s, %d accepted, %d rejected, %d accepted twice\n",
		plural(int64(st.Interchanges), "interchange"), plural(int64(st.Claims), "claim"), st.Accepted, st.RejectedClaims, st.DoubleAccepted)
	if rx := st.Pharmacy; err == nil && rx.Transmissions+rx.Batches > 0 {
		_, err = fmt.Fprintf(s.env.Stdout, "%s, %s, %d paid, %d reversed, %d rejected, %d paid twice\n",
			plural(int64(rx.Transmissions), "transmission"), plural(int64(rx.Transactions), "transaction"), rx.Paid, rx.Reversed, rx.Rejected, rx.DoublePaid)
	}
	return err
}

// payerScript joins the script's file and the rules given as flags.
func (s *session) payerScript(f payersimFlags) (*payersim.Script, error) {
	text := ""
	if f.script != "" {
		file, err := s.openInput(f.script, 1)
		if err != nil {
			return nil, err
		}
		b, err := readAll(file, 1<<20)
		_ = file.Close()
		if err != nil {
			return nil, err
		}
		text = string(b) + "\n"
	}
	for _, r := range f.rules {
		text += r + "\n"
	}
	return payersim.ParseScript(text)
}

// runPayer serves and watches until ctx ends or one of them fails.
func (s *session) runPayer(ctx context.Context, p *payersim.Payer, f payersimFlags) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done, running := make(chan error, 2), 0
	if f.in != "" {
		if info, err := os.Stat(f.in); err != nil || !info.IsDir() {
			return usagef("--in must be a folder that exists")
		}
		running++
		go func() { done <- p.Watch(ctx, f.in, f.acks, f.poll) }()
	}
	if f.listen != "" {
		running++
		go func() {
			done <- p.Serve(ctx, f.listen, func(a net.Addr) {
				s.say("the payer takes claims at http://%s/v1/interchanges, pharmacy claims at http://%s/v1/ncpdp", a, a)
			})
		}()
	}
	var first error
	for range running {
		if err := <-done; err != nil && first == nil {
			first = err
		}
		cancel()
	}
	return first
}
