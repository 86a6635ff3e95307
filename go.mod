module claimdlq

go 1.26.0
