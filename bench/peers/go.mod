module claimdlq/bench/peers

go 1.26.0

require (
	claimdlq v0.0.0
	github.com/cockroachdb/pebble/v2 v2.1.7
	modernc.org/sqlite v1.62.0
)

replace claimdlq => ../..
