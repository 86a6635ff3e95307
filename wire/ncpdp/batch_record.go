package ncpdp

// start reads the header.
func (b *BatchReader) start(raw []byte, at int64) *BatchStart {
	b.started = true
	s := &BatchStart{Raw: raw, Offset: at}
	fault := func(offset int, field string) {
		s.Faults = append(s.Faults, Fault{Code: CodeBatchHeader, Offset: offset, Field: field})
	}
	if len(raw) != batchHeaderSize {
		fault(min(len(raw), batchHeaderSize), "")
		return s
	}
	if b.details > b.before {
		fault(0, "")
	}
	s.Header = BatchHeader{
		Type: raw[3], Sender: string(trim(raw[4:28])), Number: string(raw[28:35]), Date: string(raw[35:43]),
		Time: string(raw[43:47]), FileType: raw[47], Version: string(raw[48:50]), Receiver: string(trim(raw[50:74])),
	}
	b.header = &s.Header
	h := s.Header
	if h.Type != 'T' && h.Type != 'R' && h.Type != 'E' {
		fault(3, "K6")
	}
	if !allDigits(raw[28:35]) {
		fault(28, "5C")
	}
	if !isDate(raw[35:43]) {
		fault(35, "K2")
	}
	if !isTime(raw[43:47]) {
		fault(43, "K3")
	}
	if h.FileType != 'P' && h.FileType != 'T' {
		fault(47, "MC")
	}
	if h.Version != "12" && h.Version != "11" {
		fault(48, "A2")
	}
	if !printable(raw[1 : len(raw)-1]) {
		fault(1, "")
	}
	return s
}

func isTime(b []byte) bool {
	return len(b) == 4 && allDigits(b) && string(b[:2]) < "24" && string(b[2:]) < "60"
}

// detail reads one message.
func (b *BatchReader) detail(raw []byte, at int64) *BatchDetail {
	b.details++
	d := &BatchDetail{Raw: raw, Offset: at, Number: b.details, Message: b.msg}
	fault := func(c Code, field string) {
		d.Faults = append(d.Faults, Fault{Code: c, Offset: 3, Field: field})
	}
	if !b.started && b.details == b.before+1 {
		fault(CodeBatchHeader, "")
	}
	if b.ended {
		fault(CodeAfterTrailer, "")
	}
	body := raw[3 : len(raw)-1]
	ref := body[:min(batchRefSize, len(body))]
	d.Ref = trim(ref)
	switch _, again := b.refs[keyOf(d.Ref)]; {
	case len(ref) < batchRefSize || len(d.Ref) == 0 || !printable(ref):
		fault(CodeReference, "K5")
	case again:
		fault(CodeDuplicateRef, "K5")
	case b.details-b.before > b.o.MaxDetails:
		fault(CodeTooManyDetail, "")
	default:
		b.refs[keyOf(d.Ref)] = struct{}{}
	}
	b.msg.Reset(body[len(ref):])
	return d
}

func keyOf(ref []byte) (k [batchRefSize]byte) {
	copy(k[:], ref)
	return k
}

// end reads the trailer.
func (b *BatchReader) end(raw []byte, at int64) *BatchEnd {
	b.ended = true
	e := &BatchEnd{Raw: raw, Offset: at, Count: -1, Details: b.details - b.before}
	fault := func(c Code, offset int, field string) {
		e.Faults = append(e.Faults, Fault{Code: c, Offset: offset, Field: field})
	}
	if !b.started {
		fault(CodeBatchHeader, 0, "")
	}
	if len(raw) < 21 || len(raw) > batchTrailerSize { // a message that was not filled up is let pass
		fault(CodeBatchTrailer, min(len(raw), batchTrailerSize), "")
		return e
	}
	e.Number = string(raw[3:10])
	n, ok := digits(trim(raw[10:20]))
	if !ok || len(trim(raw[10:20])) == 0 {
		fault(CodeBatchTrailer, 10, "")
		return e
	}
	e.Count = n
	if b.header != nil && b.header.Number != e.Number {
		fault(CodeBatchNumber, 3, "5C")
	}
	if n != b.records {
		fault(CodeRecordCount, 10, "")
	}
	return e
}
