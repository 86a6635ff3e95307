package settle

import (
	"claimdlq"
	"claimdlq/classify"
	"claimdlq/wire/x12ack"
)

// Acts reports whether an answer with the result changes anything for the record.
func Acts(r claimdlq.Record, stale bool, result classify.Result) bool {
	a := x12ack.Answer{}
	a.Result = result
	return standingOf(r, stale).acts(fateOf(a))
}
