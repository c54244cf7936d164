package freshness

import "strings"

// maxDiff bounds what a diff looks at: the rest of longer texts is told as
// replaced.
const maxDiff = 500

// diffLines shows how a text became another: lines that were, with "-" in
// front, lines that are, with "+", and one line of what stayed, with " ", on
// either side of them.
func diffLines(before, now string) []string {
	a, b := strings.Split(before, "\n"), strings.Split(now, "\n")
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	end := 0
	for end < len(a)-n && end < len(b)-n && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var out []string
	if n > 0 {
		out = append(out, " "+a[n-1])
	}
	out = append(out, edits(a[n:len(a)-end], b[n:len(b)-end])...)
	if end > 0 {
		out = append(out, " "+a[len(a)-end])
	}
	return out
}

// edits walks along a longest common subsequence of lines.
func edits(a, b []string) []string {
	if len(a) > maxDiff || len(b) > maxDiff {
		return append(marked("-", a), marked("+", b)...)
	}
	common := subsequences(a, b)
	var out []string
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			out = append(out, " "+a[i])
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			out = append(out, "-"+a[i])
			i++
		default:
			out = append(out, "+"+b[j])
			j++
		}
	}
	return append(append(out, marked("-", a[i:])...), marked("+", b[j:])...)
}

// subsequences has the length of the longest common subsequence of a from i
// and b from j.
func subsequences(a, b []string) [][]int {
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	return common
}

func marked(mark string, lines []string) []string {
	out := make([]string, len(lines))
	for k, line := range lines {
		out[k] = mark + line
	}
	return out
}
