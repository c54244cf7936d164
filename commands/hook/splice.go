package hook

import (
	"bytes"
	"encoding/json"
	"strings"
)

// addItem puts an item at the end of an object or array and leaves every other
// byte as it is. A container with items gets it in the form that they have; an
// empty one on its one line between spaces, which tells that it was there: one
// that is made with its item is written without.
func addItem(text string, in node, key string, value any) string {
	if len(in.items) == 0 {
		return text[:in.start+1] + " " + compact(key, value) + " " + text[in.start+1:]
	}
	last := len(in.items) - 1
	end := in.items[last].end
	lineEnd, indent, broken := layout(text, in.from(last))
	item, gap, past := compact(key, value), " ", func(at int) int { return at }
	if broken {
		item, gap = pretty(key, value, indent, step(text), lineEnd), lineEnd+indent
		past = func(at int) int { return restOfLine(text, at) }
	}
	if comma := commaAfter(text, end); comma >= 0 {
		at := past(comma + 1)
		return text[:at] + gap + item + "," + text[at:]
	}
	at := past(end)
	return text[:end] + "," + text[end:at] + gap + item + text[at:]
}

// layout says whether what stands at a place begins a line, how deep, and how
// lines end.
func layout(text string, at int) (lineEnd, indent string, broken bool) {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	indent = text[start:at]
	if start == 0 || strings.Trim(indent, " \t") != "" {
		return "", "", false
	}
	if start > 1 && text[start-2] == '\r' {
		return "\r\n", indent, true
	}
	return "\n", indent, true
}

// step is one level of indentation: that of the first item of the root.
func step(text string) string {
	root, err := parseJSON(text)
	if err == nil && len(root.items) > 0 {
		if _, indent, broken := layout(text, root.from(0)); broken && indent != "" {
			return indent
		}
	}
	return "  "
}

// commaAfter is the comma that follows an item, -1 for none.
func commaAfter(text string, end int) int {
	p := &parser{text: text, at: end}
	if p.skip(); p.peek() == ',' {
		return p.at
	}
	return -1
}

// restOfLine is past the comments that follow on the same line: they belong to
// what stands before them.
func restOfLine(text string, at int) int {
	end := at + upTo(text[at:], "\n")
	if end > at && text[end-1] == '\r' {
		end--
	}
	p := &parser{text: text[:end], at: at}
	if p.skip(); p.at == end && strings.TrimSpace(text[at:end]) != "" {
		return end
	}
	return at
}

func compact(key string, value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // of strings, numbers, maps and lists of them
	return name(key) + strings.TrimSuffix(b.String(), "\n")
}

func pretty(key string, value any, indent, step, lineEnd string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(indent, step)
	_ = e.Encode(value)
	return name(key) + strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", lineEnd)
}

func name(key string) string {
	if key == "" {
		return ""
	}
	return `"` + key + `": `
}

// removeItem gives the texts that may have been there before item i was added
// to a container, the likeliest first.
func removeItem(text string, in node, i int) []string {
	from, end := in.from(i), in.items[i].end
	if i < len(in.items)-1 {
		return []string{text[:from] + text[in.from(i+1):]}
	}
	if i == 0 {
		return []string{
			strings.TrimSuffix(text[:from], " ") + strings.TrimPrefix(text[end:], " "),
			text[:from] + strings.TrimPrefix(text[end:], ","),
		}
	}
	gap := strings.TrimRight(text[:from], " \t")
	if strings.HasSuffix(gap, "\n") {
		gap = strings.TrimSuffix(strings.TrimSuffix(gap, "\n"), "\r")
	}
	out := []string{}
	before := in.items[i-1].end
	if comma := commaAfter(text, before); comma >= 0 && comma < len(gap) {
		out = append(out, gap[:comma]+gap[comma+1:]+text[end:])
	}
	if comma := commaAfter(text, end); comma >= 0 {
		out = append([]string{gap + text[end:comma] + text[comma+1:]}, out...)
	}
	return out
}
