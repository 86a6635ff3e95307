package main

import (
	"encoding/json"
	"testing"
)

func TestAnswer_OfStatusesThatDifferIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	var op operation
	err := json.Unmarshal([]byte(`{"responses":{
		"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Receipt"}}}},
		"202":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Result"}}}},
		"default":{"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"}}}}}}`), &op)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if kind, ok := op.answer(); !ok || kind != "json.RawMessage" {
			t.Fatalf("it answers with %q, %t", kind, ok)
		}
	}
}
