package webhook

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"claimdlq"
	"claimdlq/alert"
)

// Message is what is posted: the shape of Alertmanager's webhook, version 4. There
// is one alert in it, which is a group of its own.
type Message struct {
	Version           string            `json:"version"` // "4"
	GroupKey          string            `json:"groupKey"`
	TruncatedAlerts   int               `json:"truncatedAlerts"` // 0
	Status            alert.Status      `json:"status"`          // firing or resolved
	Receiver          string            `json:"receiver"`
	GroupLabels       map[string]string `json:"groupLabels"`
	CommonLabels      map[string]string `json:"commonLabels"`
	CommonAnnotations map[string]string `json:"commonAnnotations"`
	ExternalURL       string            `json:"externalURL"`
	Alerts            []Alert           `json:"alerts"`
}

// Alert is one alarm in a Message.
type Alert struct {
	Status alert.Status `json:"status"`
	// Labels are alertname, severity, and stream, reason, partner, stage and cause where they apply.
	Labels map[string]string `json:"labels"`
	// Annotations are summary, runbook, console, value and threshold.
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"` // 0001-01-01T00:00:00Z while it rings
	GeneratorURL string            `json:"generatorURL"`
	Fingerprint  string            `json:"fingerprint"`
}

// newMessage returns the message of an event.
func newMessage(e alert.Event, receiver, externalURL string) Message {
	labels := map[string]string{"alertname": e.Alarm, "severity": string(e.Severity)}
	group := []string{"alertname=" + strconv.Quote(e.Alarm)}
	for _, l := range [...]struct{ name, value string }{{"partner", e.Labels.Partner}, {"reason", e.Labels.Reason}, {"stage", e.Labels.Stage}, {"cause", e.Labels.Cause}, {"stream", e.Labels.Stream}} {
		if l.value != "" {
			labels[l.name] = l.value
			group = append(group, l.name+"="+strconv.Quote(l.value))
		}
	}
	notes := map[string]string{"summary": e.Summary, "runbook": e.Runbook, "console": e.Console, "value": number(e.Value), "threshold": number(e.Threshold)}
	grouped := make(map[string]string, len(labels))
	for k, v := range labels {
		if k != "severity" {
			grouped[k] = v
		}
	}
	return Message{
		Version: "4", GroupKey: "{}:{" + strings.Join(group, ", ") + "}", Status: e.Status, Receiver: receiver, GroupLabels: grouped, CommonLabels: labels,
		CommonAnnotations: notes, ExternalURL: externalURL,
		Alerts: []Alert{{
			Status: e.Status, Labels: labels, Annotations: notes, StartsAt: e.StartsAt, EndsAt: e.EndsAt, Fingerprint: e.Fingerprint(),
			GeneratorURL: generator(e, externalURL),
		}},
	}
}

// generator is the address of the page that shows the cause; nothing without a console.
func generator(e alert.Event, externalURL string) string {
	if externalURL == "" {
		return ""
	}
	return alert.Link(externalURL, e)
}

func number(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(f, 'f', 3, 64), "0"), ".")
}

// encode returns the message's bytes.
func (m Message) encode() ([]byte, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Internal, Op: "write alarm", Err: err}
	}
	return b, nil
}
