package scan

import (
	"bytes"
	"sync"
)

// A set contains rules, as bits by table index.
type set uint64

// A dictionary finds keywords of all rules in one pass over a text.
type dictionary struct {
	begins [1 << 16]uint8 // bucket by the first two bytes of a word, 0 if empty
	bucket [][]word
	vague  set
}

type word struct {
	text []byte
	rule int
}

var words = sync.OnceValue(func() *dictionary {
	d := &dictionary{bucket: [][]word{nil}}
	all := table()
	for i := range all {
		if all[i].vague() {
			d.vague |= 1 << i
		}
		for _, w := range all[i].words {
			d.add(word{[]byte(w), i})
		}
	}
	return d
})

func (d *dictionary) add(w word) {
	at := pair(w.text[0], w.text[1])
	if d.begins[at] == 0 {
		d.begins[at] = uint8(len(d.bucket))
		d.bucket = append(d.bucket, nil)
	}
	d.bucket[d.begins[at]] = append(d.bucket[d.begins[at]], w)
}

func pair(a, b byte) int { return int(a)<<8 | int(b) }

// mentioned returns rules with a keyword in a lower-case text. This avoids slow regular
// expressions, which are compiled on first use.
func mentioned(lower []byte) set {
	d := words()
	var found set
	for i := 0; i+1 < len(lower); i++ {
		b := d.begins[pair(lower[i], lower[i+1])]
		if b == 0 {
			continue
		}
		for _, w := range d.bucket[b] {
			if bytes.HasPrefix(lower[i:], w.text) {
				found |= 1 << w.rule
			}
		}
	}
	return found
}

// rules returns the rules of a set in table order.
func (s set) rules() []*rule {
	var list []*rule
	all := table()
	for i := range all {
		if s&(1<<i) != 0 {
			list = append(list, &all[i])
		}
	}
	return list
}
