package hook

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tailscale/hujson"
)

// A member is a key and value in an ordered JSON object.
type member struct {
	key   string
	value any // string, int, []any or object
}

type object []member

// printer writes values in various JSON styles of users and programs.
type printer struct {
	indent   string // "" for a single line
	colon    string
	trailing bool // trailing commas
	end      string
}

func (p printer) value(b *strings.Builder, v any, depth int) {
	switch v := v.(type) {
	case object:
		p.items(b, "{}", len(v), depth, func(i int) {
			key, _ := json.Marshal(v[i].key)
			b.WriteString(string(key) + p.colon)
			p.value(b, v[i].value, depth+1)
		})
	case []any:
		p.items(b, "[]", len(v), depth, func(i int) { p.value(b, v[i], depth+1) })
	default:
		text, _ := json.Marshal(v)
		b.Write(text)
	}
}

func (p printer) items(b *strings.Builder, brackets string, n, depth int, item func(int)) {
	b.WriteByte(brackets[0])
	for i := range n {
		if p.indent != "" {
			b.WriteString(p.end + strings.Repeat(p.indent, depth+1))
		}
		item(i)
		if i < n-1 || p.trailing && p.indent != "" {
			b.WriteByte(',')
		}
		if p.indent == "" && i < n-1 {
			b.WriteByte(' ')
		}
	}
	if n > 0 && p.indent != "" {
		b.WriteString(p.end + strings.Repeat(p.indent, depth))
	}
	b.WriteByte(brackets[1])
}

func (p printer) text(v any) string {
	var b strings.Builder
	p.value(&b, v, 0)
	return b.String()
}

func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

func randomPrinter(r *rand.Rand) printer {
	return printer{
		indent: pick(r, "", "  ", "    ", "\t"), colon: pick(r, ": ", ": ", ":"),
		trailing: r.IntN(4) == 0, end: pick(r, "\n", "\n", "\r\n"),
	}
}

// randomSettings returns a random settings file of a user, with or without hooks.
func randomSettings(r *rand.Rand) object {
	o := object{}
	for i := range r.IntN(4) {
		o = append(o, member{fmt.Sprintf("key%d", i), pick[any](r, "text // none", 7, object{}, []any{}, []any{"a", 1}, object{{"hooks", "x"}})})
	}
	if r.IntN(2) == 0 {
		hooks := object{}
		for _, event := range []string{"Stop", "SessionStart", "SessionEnd"} {
			if r.IntN(3) == 0 {
				hooks = append(hooks, member{event, randomGroups(r)})
			}
		}
		o = slices.Insert(o, r.IntN(len(o)+1), member{"hooks", hooks})
	}
	return o
}

func randomGroups(r *rand.Rand) []any {
	groups := []any{}
	for range r.IntN(3) {
		command := pick(r, "say hello", "git-checkpoint hook session-end claude | tee log", "echo 'git-checkpoint'")
		groups = append(groups, object{{"matcher", "*"}, {"hooks", []any{object{{"type", "command"}, {"command", command}}}}})
	}
	return groups
}

// parseOrdered parses JSON, possibly with comments, into ordered values.
func parseOrdered(t *testing.T, text string) any {
	root, err := parseJSON(text)
	require.NoError(t, err, text)
	return ordered(root)
}

func ordered(v *hujson.Value) any {
	switch c := v.Value.(type) {
	case *hujson.Object:
		o := object{}
		for i := range c.Members {
			o = append(o, member{c.Members[i].Name.Value.(hujson.Literal).String(), ordered(&c.Members[i].Value)})
		}
		return o
	case *hujson.Array:
		list := []any{}
		for i := range c.Elements {
			list = append(list, ordered(&c.Elements[i]))
		}
		return list
	}
	var value any
	_ = json.Unmarshal([]byte(v.String()), &value)
	return value
}

// rewrite simulates a program that reads settings, changes user values, and writes the
// result in its own style.
func rewrite(r *rand.Rand, v any) any {
	o := slices.Clone(v.(object))
	for range r.IntN(3) {
		at := r.IntN(100)
		switch i := slices.IndexFunc(o, func(m member) bool { return strings.HasPrefix(m.key, "key") }); {
		case at < 40:
			o = append(o, member{fmt.Sprintf("new%d", at), at})
		case at < 60 && i >= 0:
			o[i].value = "changed"
		case at < 70 && i >= 0:
			o = slices.Delete(o, i, i+1)
		case at < 85:
			slices.SortFunc(o, func(a, b member) int { return strings.Compare(a.key, b.key) })
		}
	}
	return o
}

// For random settings files and later rewrites by another program, uninstall returns the
// rewritten original.
func TestUninstallAfterARewriter(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1200) {
		r := rand.New(rand.NewPCG(seed, 1))
		a := AgentNamed(pick(r, Agents()...))
		original := randomSettings(r)
		text := randomPrinter(r).text(original) + pick(r, "", "\n")
		in, err := a.Install(text, true)
		require.NoError(t, err)
		again, err := a.Install(in, true)
		require.NoError(t, err)
		require.Equal(t, in, again, "seed %d", seed)
		out, gone := a.Uninstall(in, text)
		require.Equal(t, text, out, "seed %d", seed)
		require.False(t, gone)

		style, edit := randomPrinter(r), r.Uint64()
		if style.indent == "" {
			style.colon = ":"
		}
		edited := func(v any) string { return style.text(rewrite(rand.New(rand.NewPCG(edit, 2)), v)) + "\n" }
		want, have := edited(parseOrdered(t, text)), edited(parseOrdered(t, in))
		out, gone = a.Uninstall(have, text)
		require.False(t, gone, "seed %d", seed)
		require.Equal(t, want, out, "seed %d: %s\nbecame %s", seed, text, have)
	}
}

// User text around hooks is preserved byte for byte.
func TestUninstallAfterInsertions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1200) {
		r := rand.New(rand.NewPCG(seed, 3))
		a := AgentNamed(pick(r, Agents()...))
		p := randomPrinter(r)
		text := pick(r, "", byteOrderMark) + p.text(randomSettings(r)) + pick(r, "", p.end)
		in, err := a.Install(text, true)
		require.NoError(t, err)
		before := 0
		for before < len(text) && text[before] == in[before] {
			before++
		}
		after := 0
		for after < len(text)-before && text[len(text)-1-after] == in[len(in)-1-after] {
			after++
		}
		note := pick(r, "// a note"+p.end, "/* a note */", p.end+p.end, "  ")
		if at := tokenBoundary(r, text, 0, before); at >= 0 {
			check(t, a, seed, text, text[:at]+note+text[at:], in[:at]+note+in[at:])
		}
		if at := tokenBoundary(r, text, max(hooksEnd(text), len(text)-after)+1, len(text)); at >= 0 {
			to := len(in) - (len(text) - at)
			check(t, a, seed, text, text[:at]+note+text[at:], in[:to]+note+in[to:])
		}
	}
}

func check(t *testing.T, a *Agent, seed uint64, before, want, have string) {
	t.Helper()
	out, gone := a.Uninstall(have, before)
	require.False(t, gone, "seed %d", seed)
	require.Equal(t, want, out, "seed %d: from %s", seed, have)
}

// hooksEnd returns the end of the last range that install writes to.
func hooksEnd(text string) int {
	root, _ := parseJSON(text)
	if hooks := find(root, "hooks"); hooks != nil {
		return offset(text, hooks) + hooks.EndOffset - hooks.StartOffset
	}
	return offset(text, root) + root.EndOffset - root.StartOffset - 1
}

// tokenBoundary returns a random offset in a range at which a comment is valid: the start
// of a key, value or bracket. It returns -1 if the range has no such offset.
func tokenBoundary(r *rand.Rand, text string, from, to int) int {
	root, err := parseJSON(text)
	if err != nil {
		return -1
	}
	var all []int
	for v := range root.All() {
		all = append(all, offset(text, v), offset(text, v)+v.EndOffset-v.StartOffset)
	}
	all = slices.DeleteFunc(all, func(at int) bool { return at < from || at >= to })
	if len(all) == 0 {
		return -1
	}
	return pick(r, all...)
}
