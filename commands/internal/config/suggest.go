package config

import "strings"

// unknown returns the message for an unknown name. The function names returns a key's
// name in the source's notation.
func unknown(name string, names func(*Key) string) string {
	if best := nearest(name, names); best != "" {
		return "unknown setting; did you mean " + best + "?"
	}
	return "unknown setting"
}

// nearest returns the most similar known name, or "" if no name is similar.
func nearest(name string, names func(*Key) string) string {
	if len(name) > 80 {
		return ""
	}
	best, least := "", 1+min(3, len(name)/3)
	for i := range table {
		known := names(&table[i])
		for _, candidate := range parts(known) {
			if d := candidate.cost + EditDistance(name, candidate.text); d < least {
				best, least = candidate.shown, d
			}
		}
	}
	return best
}

type candidate struct {
	text, shown string
	cost        int
}

// parts returns the forms of a known name that users may have misspelt: the whole name, its
// section, or its last word at the wrong level.
func parts(known string) []candidate {
	all := []candidate{{known, known, 0}}
	if dot := strings.LastIndexByte(known, '.'); dot > 0 {
		all = append(all, candidate{known[dot+1:], known, 1})
		if section := known[:dot]; section != rootKey {
			all = append(all, candidate{section, section, 0})
		}
	}
	return all
}

// EditDistance returns the number of single-byte insertions, deletions, replacements and
// swaps of adjacent bytes that turn a into b.
func EditDistance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
