package api

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
	"claimdlq/internal/plot"
	"claimdlq/sizing"
)

type sizingInput struct {
	Body struct {
		Learn         bool      `json:"learn,omitempty" doc:"Take rate, shares and the longest incident from the history here, where nothing else is said. For those who see every partner."`
		Rate          string    `json:"rate,omitempty" minLength:"1" maxLength:"24" doc:"Claims at the busiest time: 400/s, 20000/h. Required unless it is learned."`
		Incidents     []float64 `json:"incident_seconds,omitempty" maxItems:"8" doc:"How long the other side may be down. Default: 300 and 1800."`
		Turnaround    float64   `json:"turnaround_seconds,omitempty" minimum:"0" maximum:"2592000"`
		Blip          float64   `json:"blip_seconds,omitempty" minimum:"0" maximum:"86400"`
		Transient     string    `json:"transient,omitempty" maxLength:"12" doc:"Share of deliveries that fail on a normal day: 0.1%."`
		Bad           string    `json:"bad,omitempty" maxLength:"12" doc:"Share of claims that are dead-lettered at first sight."`
		Quota         string    `json:"quota,omitempty" maxLength:"24" doc:"Calls that the other side takes."`
		Workers       int64     `json:"workers,omitempty" minimum:"0" maximum:"100000"`
		Latency       float64   `json:"latency_seconds,omitempty" minimum:"0" maximum:"3600"`
		FailLatency   float64   `json:"fail_latency_seconds,omitempty" minimum:"0" maximum:"3600"`
		MaxReceive    uint32    `json:"max_receive,omitempty" minimum:"0" maximum:"1000" doc:"Default: the default policy's."`
		Base          float64   `json:"base_seconds,omitempty" minimum:"0" maximum:"86400"`
		Cap           float64   `json:"cap_seconds,omitempty" minimum:"0" maximum:"86400"`
		RetentionDays int       `json:"retention_days,omitempty" minimum:"0" maximum:"36500"`
		DepthAlarm    int64     `json:"depth_alarm_per_minute,omitempty" minimum:"0" maximum:"1000000000"`
	}
}

func (s *server) sizingOperations() {
	add(s, operation{
		id: "size", method: http.MethodPost, path: "/v1/sizing", tag: "sizing", perm: auth.SizingRead, summary: "What a stream's levers survive, cost and need",
		patience: 10 * time.Minute,
		about:    "The answer is that of claimdlq size --json: times in milliseconds, null for never. One is worked out at a time.",
	}, s.size)
	add(s, operation{
		id: "plot-size", method: http.MethodPost, path: "/v1/sizing/plot", tag: "sizing", perm: auth.SizingRead, summary: "The same as a picture: the longest incident, with a breaker and without",
		patience: 10 * time.Minute,
		answers:  imageSVG,
	}, s.plotSize)
}

// imageSVG is the content type of pictures.
const imageSVG = "image/svg+xml"

// sized works an answer out, one at a time.
func (s *server) sized(ctx context.Context, in *sizingInput) (a sizing.Answer, learned *sizing.Learned, err error) {
	if in.Body.Learn { // the history is everybody's
		if err := who(ctx).May(auth.RecordsRead, ""); err != nil {
			return a, nil, err
		}
	}
	select {
	case s.sizing <- struct{}{}:
		defer func() { <-s.sizing }()
	default:
		return a, nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "size stream", On: "another is being worked out", Hint: "try again"}
	}
	x, err := in.input()
	if err != nil {
		return a, nil, err
	}
	if in.Body.Learn {
		l, err := s.o.App.Learn(ctx, nil)
		if err != nil {
			return a, nil, err
		}
		if learned, x = &l, l.Apply(x); x.Rate.IsZero() {
			return a, nil, invalid("learn from the history", "body.rate", "it holds no claims: say a rate")
		}
	}
	a, err = sizing.Size(x)
	return a, learned, err
}

func (s *server) plotSize(ctx context.Context, in *sizingInput) (*struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}, error,
) {
	a, _, err := s.sized(ctx, in)
	if err != nil {
		return nil, err
	}
	c, err := plot.Outage(&a)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := plot.SVG(&b, c); err != nil {
		return nil, err
	}
	return &struct {
		ContentType string `header:"Content-Type"`
		Body        []byte
	}{imageSVG, b.Bytes()}, nil
}

func (s *server) size(ctx context.Context, in *sizingInput) (*struct{ Body any }, error) {
	a, learned, err := s.sized(ctx, in)
	if err != nil {
		return nil, err
	}
	return &struct{ Body any }{struct {
		sizing.Answer

		Enough  bool            `json:"enough"`
		Learned *sizing.Learned `json:"learned,omitempty"`
	}{a, a.Enough(), learned}}, nil
}

func (in *sizingInput) input() (x sizing.Input, err error) {
	b := &in.Body
	span := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	x = sizing.Input{
		Turnaround: span(b.Turnaround), Blip: span(b.Blip), Workers: b.Workers, Latency: span(b.Latency), FailLatency: span(b.FailLatency),
		DepthAlarm: b.DepthAlarm, Policy: claimdlq.DefaultPolicy(),
	}
	if b.Rate != "" || !b.Learn {
		if x.Rate, err = sizing.ParseRate(b.Rate); err != nil {
			return x, err
		}
	}
	if b.Quota != "" {
		if x.Quota, err = sizing.ParseRate(b.Quota); err != nil {
			return x, err
		}
	}
	for text, to := range map[*string]*sizing.Share{&b.Transient: &x.Transient, &b.Bad: &x.Bad} {
		if *text == "" {
			continue
		}
		if *to, err = sizing.ParseShare(*text); err != nil {
			return x, err
		}
	}
	for _, s := range b.Incidents {
		if s < 0 || s > 30*86400 {
			return x, invalid("size stream", "incident_seconds", "0 to 30 days each")
		}
		x.Incidents = append(x.Incidents, span(s))
	}
	if b.MaxReceive > 0 {
		x.Policy.MaxReceive = b.MaxReceive
	}
	if b.Base > 0 {
		x.Policy.Base = span(b.Base)
	}
	if b.Cap > 0 {
		x.Policy.Cap = span(b.Cap)
	}
	if b.RetentionDays > 0 {
		x.Policy.Retention = time.Duration(b.RetentionDays) * 24 * time.Hour
	}
	return x, nil
}
