package cli

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/alert/email"
	"claimdlq/alert/webhook"
	"claimdlq/flow/attempt"
	"claimdlq/flow/filing"
	"claimdlq/internal/app"
	"claimdlq/internal/auth"
	"claimdlq/internal/config"
	"claimdlq/internal/control"
	"claimdlq/internal/serve"
	"claimdlq/web"
)

// serveFlags stand over the configuration file and the environment.
type serveFlags struct {
	file, listen, token string
	example, rules      bool
}

func newServe(s *session) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Take claims in, deliver them, and keep doing so",
		Long: `Serve runs both streams, 837 and pharmacy claims, until it is interrupted: it takes
claims in over HTTP and from folders, delivers them within their budgets, settles them by
the answers, watches for alarms, and parks what is unresolved past its retention.

It reads one YAML file (--config), over which environment variables (CLAIMDLQ_...) and
flags stand; every fault in it is named at once. --example prints a file with every key
and its default. While it runs, every other command works on its data directory: it is
run by the serving process.`,
		Example: `  claimdlq serve --config claimdlq.yaml
  claimdlq serve --target ncpdp=https://adjudicator.example/ncpdp
  claimdlq serve --example > claimdlq.yaml`,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.example {
				_, err := s.env.Stdout.Write(config.Example())
				return err
			}
			if f.rules {
				return s.printRules(f)
			}
			return s.serve(c.Context(), f)
		},
	}
	s.addTargets(c)
	c.Flags().StringVar(&f.file, "config", "", "YAML `file` (environment CLAIMDLQ_CONFIG)")
	c.Flags().StringVar(&f.listen, "listen", "", "take claims in at this `address` (default 127.0.0.1:8837)")
	c.Flags().StringVar(&f.token, "token-file", "", "`file` with the token that clients send")
	c.Flags().BoolVar(&f.example, "example", false, "print an example of the file and end")
	c.Flags().BoolVar(&f.rules, "rules", false, "print the alarms as Prometheus rules, with the configuration's thresholds, and end")
	return c
}

// printRules prints the alarms as Prometheus reads them.
func (s *session) printRules(f serveFlags) error {
	cfg, err := s.configured(f)
	if err != nil {
		return err
	}
	rules, err := alarmRules(cfg)
	if err != nil {
		return err
	}
	return alert.WriteRules(s.env.Stdout, rules)
}

// alarmRules returns the rules as the configuration changes them.
func alarmRules(cfg config.Config) ([]alert.Rule, error) {
	rules, err := alert.Rules(alert.Options{})
	if err != nil {
		return nil, err
	}
	return cfg.Alarms.Apply(rules)
}

// configured reads the configuration.
func (s *session) configured(f serveFlags) (config.Config, error) {
	if f.file == "" {
		f.file = s.env.Getenv("CLAIMDLQ_CONFIG")
	}
	over := map[string]any{}
	for key, v := range map[string]string{"data": s.data, "listen": f.listen, "token_file": f.token, "log.level": s.log} {
		if v != "" {
			over[key] = v
		}
	}
	if s.logJS {
		over["log.format"] = "json"
	}
	cfg, err := config.Load(f.file, s.env.Environ, over)
	faults := config.Faults(err)
	if len(faults) == 0 {
		return cfg, err
	}
	for _, x := range faults {
		s.say("%s", x)
	}
	return cfg, &claimdlq.Error{
		Code: claimdlq.Invalid, Op: "read configuration", On: plural(int64(len(faults)), "fault"), Hint: "claimdlq serve --example shows every key",
	}
}

// serve runs until ctx ends.
func (s *session) serve(ctx context.Context, f serveFlags) error {
	cfg, err := s.configured(f)
	if err != nil {
		return err
	}
	a, err := s.openConfigured(ctx, cfg)
	if err != nil {
		return err
	}
	err = s.serveOpen(ctx, a, cfg)
	if cerr := a.Close(); err == nil {
		err = cerr
	}
	return err
}

func (s *session) serveOpen(ctx context.Context, a *app.App, cfg config.Config) error {
	rules, err := alarmRules(cfg)
	if err != nil {
		return err
	}
	log, err := s.logger()
	if err != nil {
		return err
	}
	receivers, err := receiversOf(cfg.Alarms, s.env.Now, log)
	if err != nil {
		return err
	}
	console, err := web.Handler()
	if err != nil {
		return err
	}
	set := serve.Setup{
		Dir: cfg.Data, Version: thisVersion().Version, Cert: cfg.TLS.Cert, Key: cfg.TLS.Key, MaxUnresolved: int64(min(cfg.Intake.MaxWaiting, 1<<62)),
		HTTP: serve.Options{
			Console: console, Token: cfg.Token.Reveal(), MaxFile: cfg.Intake.MaxBody, MemoryPercent: cfg.Intake.MemoryPercent, AtOnce: cfg.Workers * 3 / 2,
		},
		Every: cfg.Alarms.Every, Rules: rules, Receivers: receivers,
		Socket: control.Path(cfg.Data), Commands: s.commands(a), Log: log, Now: s.env.Now,
		Started: func(addr net.Addr) {
			s.greet(a, cfg, addr)
			s.notify(ctx, "READY=1")
		},
	}
	if cfg.TLS.SelfSigned {
		if set.Certificate, err = serve.SelfSigned(s.env.Now()); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Streams)) {
		if f := cfg.Streams[name].Folder; f != "" {
			set.Folders = append(set.Folders, f)
		}
	}
	if set.Listener, err = listen(ctx, cfg.Listen, "choose another address with --listen"); err != nil {
		return err
	}
	if cfg.PayloadListen != "" {
		if set.Payload, err = listen(ctx, cfg.PayloadListen, "choose another payload_listen"); err != nil {
			return errors.Join(err, set.Listener.Close())
		}
	}
	if !a.HasTarget() {
		s.say("no target is configured: claims are taken in and held")
	}
	defer context.AfterFunc(ctx, func() { s.notify(ctx, "STOPPING=1") })()
	return serve.Run(ctx, a, set)
}

func listen(ctx context.Context, at, hint string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "listen", On: at, Hint: hint, Err: err}
	}
	return l, nil
}

// greet says where the process is, and what a newcomer does next.
func (s *session) greet(a *app.App, cfg config.Config, addr net.Addr) {
	scheme := "http"
	if cfg.TLS.Encrypts() {
		scheme = "https"
	}
	s.say("claimdlq takes claims in at %s://%s/v1/claims, and shows the console at %s://%s/", scheme, addr, scheme, addr)
	if a.Desk.Empty() {
		s.say("there is no account yet; this makes one, which works at once: %s --data %s", auth.FirstAccount, cfg.Data)
	}
}

// receiversOf returns whom alarms are sent to.
func receiversOf(c config.Alarms, now func() time.Time, log *slog.Logger) ([]serve.Receiver, error) {
	var out []serve.Receiver
	if w := c.Webhook; w.URL != "" {
		sender, err := webhook.New(webhook.Options{URL: w.URL, Secret: w.Secret.Reveal(), ExternalURL: c.ConsoleURL, Now: now, Log: log})
		if err != nil {
			return nil, err
		}
		out = append(out, serve.Receiver{Name: "webhook", Severities: w.Severities, Sender: sender, Remind: true})
	}
	if m := c.Email; m.Server != "" {
		sender, err := email.New(email.Options{
			Server: m.Server, TLS: m.TLS, User: m.User, Password: m.Password.Reveal(), From: m.From, To: m.To, Console: c.ConsoleURL, Now: now, Log: log,
		})
		if err != nil {
			return nil, err
		}
		out = append(out, serve.Receiver{Name: "email", Severities: m.Severities, Sender: sender})
	}
	return out, nil
}

// openConfigured opens the data directory as the configuration says.
func (s *session) openConfigured(ctx context.Context, cfg config.Config) (*app.App, error) {
	s.log, s.logJS = cfg.Log.Level, cfg.Log.Format == "json"
	log, err := s.logger()
	if err != nil {
		return nil, err
	}
	in, err := signIn(cfg)
	if err != nil {
		return nil, err
	}
	o := app.Options{
		Dir: cfg.Data, Create: true, Now: s.env.Now, Log: log, SignIn: in, Policies: cfg.Policies(), Overrides: cfg.Overrides(), Workers: cfg.Workers,
		Targets: s.orEnv(s.targets, "CLAIMDLQ_TARGET"), Status: s.orEnv(s.status, "CLAIMDLQ_STATUS"),
		Authorization: s.env.Getenv("CLAIMDLQ_AUTHORIZATION"), Endpoints: map[string]app.Endpoint{}, Windows: filing.Windows{},
	}
	for _, r := range cfg.Routes() {
		scope := r.Stream
		if r.Partner != "" {
			scope += "/" + r.Partner
		}
		o.Endpoints[scope] = endpoint(r)
		o.Windows[scope] = filing.Window(r.TimelyFilingDays)
		if r.Stopped {
			o.Stopped = append(o.Stopped, attempt.Switch{Stream: r.Stream, Partner: r.Partner})
		}
	}
	return app.Open(ctx, o)
}

// signIn returns how people sign in.
func signIn(cfg config.Config) (auth.Options, error) {
	in := cfg.SignIn
	o := auth.Options{
		LoopbackHTTP: !cfg.TLS.Encrypts(), Origins: in.Origins, CodeFor: in.CodesFor, Idle: in.Idle, Absolute: in.Longest,
		Second: auth.Second{Claims: in.ReplayClaims, Cents: in.ReplayDollars * 100},
	}
	if in.OIDC == nil {
		return o, nil
	}
	var err error
	o.OIDC, err = auth.NewOIDC(*in.OIDC)
	return o, err
}

func endpoint(r config.Route) app.Endpoint {
	breaker, resend := r.Breaker, r.IdempotentResend
	return app.Endpoint{
		Target: r.Target, Status: r.Status, ContentType: r.ContentType, Authorization: string(r.Authorization.Reveal()),
		Fallback: r.Fallback, FallbackAuthorization: string(r.FallbackAuthorization.Reveal()),
		Workers: r.Workers, IdempotentResend: &resend, Breaker: &breaker,
	}
}
