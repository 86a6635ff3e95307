package ncpdp

import "slices"

// counters says which fields a count counts. Nested counts are among the members
// of the outer one: 341-HB counts HC and DV inside each other payer of 337-4C.
// 473-7E, 493-XE and 567-J6 number their repeats instead of counting them.
var counters = map[ID][]ID{
	IDOf("NX"): ids("DK"),
	IDOf("SE"): ids("ER"),
	IDOf("H7"): ids("H8 H9"),
	IDOf("4C"): ids("5C 6C 7C E8 A7 HB 5E NR MU"),
	IDOf("HB"): ids("HC DV"),
	IDOf("5E"): ids("6E"),
	IDOf("NR"): ids("NP NQ"),
	IDOf("MU"): ids("MV MW"),
	IDOf("EC"): ids("RE TE ED EE UE 2G"),
	IDOf("2G"): ids("2H"),
	IDOf("VE"): ids("WE DO"),
	IDOf("FA"): ids("FB 4F"),
	IDOf("5F"): ids("6F"),
	IDOf("UF"): ids("UH FQ UG"),
	IDOf("9F"): ids("AP AR AS AT AU"),
	IDOf("J2"): ids("J3 J4"),
	IDOf("2Z"): ids("4B 4D 4G 4H 4J 4K"),
}

// ordinals number the repeats of a group, which each begins.
var ordinals = map[ID][]ID{
	IDOf("7E"): ids("E4 E5 E6 8E J9 H6"),
	IDOf("XE"): ids("ZE H1 H2 H3 H4"),
	IDOf("J6"): ids("E4 FS FT FU FV FW FX FY NS"),
}

func ids(s string) (out []ID) {
	for i := 0; i+2 <= len(s); i += 3 {
		out = append(out, IDOf(s[i:i+2]))
	}
	return out
}

// repeats is every field that may stand more than once in a segment, counts every
// one that counts others, by slot.
var repeats, counts = func() (repeats, counts [slots]bool) {
	for _, table := range []map[ID][]ID{counters, ordinals} {
		for counter, members := range table {
			for _, m := range members {
				repeats[slotOf(m)] = true
			}
			_, numbered := ordinals[counter]
			repeats[slotOf(counter)] = repeats[slotOf(counter)] || numbered
			counts[slotOf(counter)] = !numbered
		}
	}
	return repeats, counts
}()

// member reports whether id is counted by the counter, or by one nested in it.
func member(counter, id ID) bool {
	for _, m := range counters[counter] {
		if m == id {
			return true
		}
		if _, nested := counters[m]; nested && member(m, id) {
			return true
		}
	}
	return false
}

// Repeats returns the groups of a repeating field: the fields that belong to each
// repeat, in order. counter is a count such as 337-4C, or a field that numbers
// its repeats, such as 473-7E. A repeat begins where a member comes again that
// the current repeat has already. The count itself is not believed.
func (m *Message) Repeats(s Segment, counter ID) (groups [][]Field) {
	fields := m.Fields(s)
	if _, numbered := ordinals[counter]; numbered {
		return numberedRepeats(fields, counter)
	}
	direct := counters[counter]
	from := -1
	seen := make(map[ID]bool)
	for i, f := range fields {
		switch {
		case !member(counter, f.ID) || from < 0 && !slices.Contains(direct, f.ID):
			if from >= 0 {
				groups, from = append(groups, fields[from:i]), -1
			}
		case from < 0, slices.Contains(direct, f.ID) && seen[f.ID]:
			if from >= 0 {
				groups = append(groups, fields[from:i])
			}
			from = i
			clear(seen)
		}
		seen[f.ID] = true
	}
	if from >= 0 {
		groups = append(groups, fields[from:])
	}
	return groups
}

func numberedRepeats(fields []Field, counter ID) (groups [][]Field) {
	from := -1
	for i, f := range fields {
		inside := f.ID == counter || slices.Contains(ordinals[counter], f.ID)
		if from >= 0 && (f.ID == counter || !inside) {
			groups, from = append(groups, fields[from:i]), -1
		}
		if f.ID == counter {
			from = i
		}
	}
	if from >= 0 {
		groups = append(groups, fields[from:])
	}
	return groups
}

// counted returns how often the members of the count at field i come before the
// next count of its kind or the first field that is no member: the most frequent
// member decides, for some are optional.
func counted(fields []Field, i int) int {
	counter := fields[i].ID
	direct := counters[counter]
	var n [16]int
	most := 0
	for _, f := range fields[i+1:] {
		if f.ID == counter || !member(counter, f.ID) {
			break
		}
		for k, d := range direct {
			if d == f.ID {
				n[k]++
				most = max(most, n[k])
			}
		}
	}
	return most
}
