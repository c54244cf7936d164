// Package complete computes shell completions from command declarations, and holds
// completion scripts for bash, zsh and fish.
//
// A shell runs
//
//	git checkpoint completion words -- WORD...
//
// with the words after "git checkpoint"; the last word is at the cursor. The first output
// line is "words", "files" or "dirs"; the shell adds file or directory names for the last
// two. Each following line is one completion of the typed text: the word, a tab, its
// description. Words contain no control characters, so that lines can be split at
// newlines. The shell quotes inserted words.
package complete

import (
	"embed"
	"slices"
	"strings"
	"unicode"

	"git-checkpoint/commands/internal/manual"
)

// Word is a possible completion.
type Word struct{ Text, About string }

// Kind is a kind of completion that requires a lookup.
type Kind string

// Kinds have the names of arguments and values in declarations.
const (
	Issue   Kind = "ISSUE"
	ID      Kind = "ID"
	Trigger Kind = "TRIGGER"
	Phase   Kind = "PHASE"
	Task    Kind = "TASK"
	Layout  Kind = "LAYOUT"
	Remote  Kind = "REMOTE"
	Branch  Kind = "BRANCH"
	Command Kind = "COMMAND"
	Guide   Kind = "GUIDE"
)

// Next describes possible completions at the cursor.
type Next struct {
	Words  []Word // completions known without a lookup
	Kinds  []Kind // kinds to look up
	Files  bool
	Dirs   bool
	Prefix string // text before a value in the same word: "--as="
	Typed  string // typed part of the word

	Line CommandLine // words before the cursor
}

// CommandLine holds parsed values of the words before the cursor.
type CommandLine struct {
	Dirs  []string // values of -C
	Issue string   // value of --issue
	Args  []string
}

// At returns possible completions of a command line. The last word is at the cursor; ""
// starts a new word.
func At(tool *manual.Tool, words []string) Next {
	if len(words) == 0 {
		words = []string{""}
	}
	r := reader{tool: tool}
	for _, w := range words[:len(words)-1] {
		r.take(w)
	}
	n := r.next(words[len(words)-1])
	n.Line = r.line
	return n
}

// Lines returns the response to the shell. It lists words from n.Words and found that
// complete the typed text; found holds the results of the caller's lookup.
func (n *Next) Lines(found []Word) string {
	var b strings.Builder
	switch {
	case n.Dirs:
		b.WriteString("dirs\n")
	case n.Files:
		b.WriteString("files\n")
	default:
		b.WriteString("words\n")
	}
	var seen []string
	for _, w := range slices.Concat(n.Words, found) {
		// Text with bidirectional control characters is rejected.
		if w.Text == "" || !strings.HasPrefix(w.Text, n.Typed) || strings.Map(printable, w.Text) != w.Text || slices.Contains(seen, w.Text) {
			continue
		}
		seen = append(seen, w.Text)
		b.WriteString(n.Prefix + w.Text + "\t" + strings.Map(printable, w.About) + "\n")
	}
	return b.String()
}

// Shells returns the names of shells with a completion script.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

//go:embed scripts
var scripts embed.FS

// Script returns the completion script of a shell, or "" if the shell is unknown.
func Script(shell string) string {
	data, err := scripts.ReadFile("scripts/git-checkpoint." + shell)
	if err != nil {
		return ""
	}
	return string(data)
}

// A reader parses a command line word by word.
type reader struct {
	tool    *manual.Tool
	command *manual.CommandDoc // nil before the command's name
	pending *manual.FlagDoc    // flag whose value is the next word
	after   bool               // "--" was read
	rest    int                // number of words after "--"
	given   []string           // long names of given flags
	line    CommandLine
}

func (r *reader) take(word string) {
	switch {
	case r.pending != nil:
		r.value(r.pending, word)
		r.pending = nil
	case r.after:
		r.rest++
	case r.command != nil && word == "--":
		r.after = true
	case len(word) > 1 && word[0] == '-':
		r.flag(word)
	case r.command == nil:
		r.command = r.named(word)
	default:
		r.line.Args = append(r.line.Args, word)
	}
}

func (r *reader) value(f *manual.FlagDoc, value string) {
	switch long(f) {
	case "C":
		r.line.Dirs = append(r.line.Dirs, value)
	case "issue":
		r.line.Issue = value
	}
}

// long returns a flag's long name without dashes.
func long(f *manual.FlagDoc) string { return f.Names[len(f.Names)-1] }

// flag parses a flag and its attached value.
func (r *reader) flag(word string) {
	name, value, attached := strings.Cut(strings.TrimLeft(word, "-"), "=")
	f := r.flagNamed(name)
	if f == nil {
		return
	}
	r.given = append(r.given, long(f))
	switch {
	case attached:
		r.value(f, value)
	case f.Value != "" && !f.Optional:
		r.pending = f
	}
}

func (r *reader) flagNamed(name string) *manual.FlagDoc {
	for _, f := range r.all() {
		if slices.Contains(f.Names, name) {
			return &f
		}
	}
	return nil
}

// all returns the flags that are valid at the reader's position.
func (r *reader) all() []manual.FlagDoc {
	if r.command == nil {
		return r.tool.Common
	}
	return append(slices.Clone(r.command.Flags), r.tool.Common...)
}

// named returns the command with this name. An unknown command has no arguments and
// flags.
func (r *reader) named(word string) *manual.CommandDoc {
	for i, c := range r.tool.Commands {
		if c.Name == word || c.Alias != "" && c.Alias == word {
			return &r.tool.Commands[i]
		}
	}
	return &manual.CommandDoc{Name: word}
}

func (r *reader) next(word string) Next {
	switch name, value, attached := strings.Cut(word, "="); {
	case r.pending != nil:
		return of(r.pending.Value, long(r.pending)).typed("", word)
	case r.after:
		if _, last, ok := strings.Cut(r.command.Args, "-- "); ok {
			return of(strings.Trim(last, "[]."), "").typed("", word)
		}
		return r.argument(len(r.line.Args)+r.rest).typed("", word)
	case strings.HasPrefix(word, "--") && attached:
		if f := r.flagNamed(name[2:]); f != nil {
			return of(f.Value, long(f)).typed(name+"=", value)
		}
		return Next{}
	case strings.HasPrefix(word, "-"):
		next := Next{Typed: word}
		for _, f := range r.all() {
			if slices.Contains(r.given, long(&f)) && !f.Repeated {
				continue
			}
			for _, name := range slices.Backward(f.Names) {
				next.Words = append(next.Words, Word{manual.Dashed(name), f.Explained()})
			}
		}
		return next
	case r.command == nil:
		return Next{Kinds: []Kind{Command}, Typed: word}
	}
	return r.argument(len(r.line.Args)).typed("", word)
}

// of returns completions for a word of a declaration: a kind, or alternatives such as
// "yaml|json".
func of(value, flag string) Next {
	switch {
	case value == "" || flag == "conflict" || flag == "get": // ID of another system; path in a record
		return Next{}
	case strings.ToLower(value) == value && strings.ContainsAny(value, "|"):
		var next Next
		for choice := range strings.SplitSeq(value, "|") {
			next.Words = append(next.Words, Word{Text: choice})
		}
		return next
	}
	switch first, _, _ := strings.Cut(value, "="); first {
	case "PATH", "FILE", "CMD":
		return Next{Files: first == value}
	case "DIR":
		return Next{Dirs: true}
	case string(Trigger):
		return Next{Kinds: []Kind{Trigger}}
	case "A", "B": // sides of a diff
		return Next{Kinds: []Kind{ID}}
	}
	var n Next
	for _, k := range strings.Split(value, "|") {
		if slices.Contains([]Kind{Issue, ID, Phase, Task, Layout, Remote, Branch, Command, Guide}, Kind(k)) {
			n.Kinds = append(n.Kinds, Kind(k))
		}
	}
	return n
}

func (n Next) typed(prefix, text string) Next {
	n.Prefix, n.Typed = prefix, text
	return n
}

// argument returns completions of the command's nth argument, for example "[ISSUE] [ID]".
// A checkpoint ID can replace an optional issue.
func (r *reader) argument(n int) Next {
	spec, _, _ := strings.Cut(r.command.Args, " | ")
	spec, _, _ = strings.Cut(spec, "-- ")
	places := strings.Fields(strings.NewReplacer("[", " ", "]", " ").Replace(spec))
	if len(places) == 0 {
		return Next{}
	}
	last := places[len(places)-1]
	switch {
	case n < len(places):
	case strings.HasSuffix(last, "..."):
		n = len(places) - 1
	default:
		return Next{}
	}
	next := of(strings.TrimSuffix(places[n], "..."), "")
	if n == 0 && len(places) > 1 && places[0] == string(Issue) {
		if second := of(places[1], ""); slices.Equal(second.Kinds, []Kind{ID}) {
			next.Kinds = append(next.Kinds, ID)
		}
	}
	return next
}

// printable returns r, or a question mark if r is not printable.
func printable(r rune) rune {
	if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
		return '?'
	}
	return r
}
