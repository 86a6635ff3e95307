package serve

// NewMeter makes the meter that tests tell.
var NewMeter = newMeter

// Meter's methods, for tests.
var (
	See   = (*meter).see
	Rates = (*meter).rates
)
