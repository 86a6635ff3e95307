package payersim

import (
	"bytes"

	"claimdlq/wire/ncpdp"
)

// spoil makes another thing of an answer.
func spoil(answer, request []byte, a action) []byte {
	switch a.verb {
	case "echo":
		return bytes.Clone(request)
	case "html":
		return []byte("<!DOCTYPE html><html><head><title>TEST</title></head><body>TEST PAGE</body></html>")
	case "cut":
		return answer[:ncpdp.ResponseHeader/2]
	case "empty":
		return nil
	case "framed":
		return append(append([]byte{2}, answer...), 3)
	}
	return other(answer, a.code)
}

// other names another transaction code, count, pharmacy, day or prescription.
func other(b []byte, what string) []byte {
	change := func(at int) {
		if b[at]++; b[at] == '9'+1 {
			b[at] = '1'
		}
	}
	switch what {
	case "A3":
		b[3] = '1' + (b[3]-'0')%2 // B1 and B2
	case "A9":
		b[4] = '1' + (b[4]-'0')%4
	case "B1":
		change(8)
	case "D1":
		change(26) // a digit of the year
	case "D2":
		for i := range len(b) - 3 {
			if b[i] != 0x1c || b[i+1] != 'D' || b[i+2] != '2' {
				continue
			}
			end := i + 3
			for end < len(b) && b[end] >= ' ' {
				end++
			}
			if end > i+3 {
				change(end - 1)
			}
		}
	}
	return b
}
