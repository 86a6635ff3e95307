package serve_test

import (
	"reflect"
	"testing"
	"time"

	"claimdlq/alert"
	"claimdlq/internal/api"
	"claimdlq/internal/serve"
)

func TestMeter_SaysWhatTheLastMinuteBroughtAndWhereTheAlarmRings(t *testing.T) {
	t.Parallel()
	// One stream has a level of its own, and the other's alarm looks at five minutes.
	rules, err := alert.Rules(alert.Options{Streams: map[string]alert.Levels{"837": {Increase: 40}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rules {
		if rules[i].Name == alert.AlarmIncrease && rules[i].Stream == "" {
			rules[i].Window = 5 * time.Minute
		}
	}
	m, err := serve.NewMeter(rules)
	if err != nil {
		t.Fatal(err)
	}
	alarms, err := alert.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	see := func(after time.Duration, received, medical, pharmacy int64) (rang []alert.Event) {
		s := alert.Sample{At: began.Add(after), Streams: []alert.Stream{{Name: "837", Depth: medical}, {Name: "ncpdp", Depth: pharmacy}}}
		serve.See(m, s, received)
		return alarms.Observe(s)
	}
	want := func(when string, received, medical, pharmacy int64) {
		t.Helper()
		w := &api.Rates{Received: received, DeadLettered: []api.DeadLetters{{Stream: "837", Rise: medical, Alarm: 40}, {Stream: "ncpdp", Rise: pharmacy}}}
		if got := serve.Rates(m); !reflect.DeepEqual(got, w) {
			t.Errorf("%s: %+v, want %+v", when, got, w)
		}
	}
	// What lay there before is no rate.
	see(0, 5000, 700, 7)
	if got := serve.Rates(m); got != nil {
		t.Errorf("one figure: %+v", got)
	}
	see(100*time.Millisecond, 5001, 700, 7)
	want("so soon that no point is kept", 1, 0, 0)
	see(30*time.Second, 5100, 739, 7)
	want("half a minute", 100, 39, 0)
	if rang := see(60*time.Second, 5160, 740, 7); len(rang) != 1 || rang[0].Alarm != alert.AlarmIncrease || rang[0].Value != 40 {
		t.Errorf("rang: %+v", rang)
	}
	want("the minute at which the alarm rings", 160, 40, 0)
	see(90*time.Second, 5160, 730, 9)
	want("half of it is forgotten, and some were drained", 60, 0, 2)
	see(150*time.Second, 5160, 730, 9)
	want("a quiet minute", 0, 0, 0)
	serve.See(m, alert.Sample{At: began.Add(160 * time.Second)}, 5160)
	if got := serve.Rates(m); got != nil {
		t.Errorf("without figures: %+v", got)
	}
}
