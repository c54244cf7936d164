// Package manual generates the manual from command-line declarations: man pages in man(7)
// format for groff and mandoc, and terminal text with the same content.
//
//	git-checkpoint(1)            the tool: its commands, names, exit codes, environment, files
//	git-checkpoint-COMMAND(1)    one for each command
//	git-checkpoint-settings(5)   one entry for each setting
//	git-checkpoint-GUIDE(5 or 7) the texts below guides/
//
// Source texts use a Markdown subset:
//
//	## heading, ### subheading
//	paragraph
//	- list item
//	- `term`, `term`: definition
//	    verbatim text, indented by four spaces
//
// Backquotes mark literal input.
package manual

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

// Page is one manual page.
type Page struct {
	Name    string // e.g. git-checkpoint-save
	Section int
	Usage   string // one line

	date, source string
	blocks       []block
}

// File returns the page's path in a manual directory.
func (p *Page) File() string { return fmt.Sprintf("man%d/%s.%d", p.Section, p.Name, p.Section) }

// Pages returns all manual pages: the tool's page, one page for each command, settings,
// guides.
func Pages(t *Tool) []Page {
	pages := []Page{t.main()}
	for i := range t.Commands {
		pages = append(pages, t.command(&t.Commands[i]))
	}
	pages = append(pages, t.settings())
	for _, g := range guides() {
		pages = append(pages, t.guide(g))
	}
	for i := range pages {
		pages[i].date, pages[i].source = t.Date, t.Name+" "+t.Version
	}
	return pages
}

// Tool holds all declarations of the program.
type Tool struct {
	Name      string // git-checkpoint
	Usage     string // one line
	Version   string
	Date      string // date of the version, YYYY-MM-DD
	Commands  []CommandDoc
	Common    []FlagDoc // flags of all commands
	Settings  []SettingDoc
	Variables []Variable
	Fields    []Variable // of a checkpoint's record
}

// CommandDoc is the declaration of a command.
type CommandDoc struct {
	Name, Alias string
	Category    string
	Usage       string // one line
	Args        string // arguments after the name
	Description string
	Examples    []string // example command lines
	Flags       []FlagDoc
}

// FlagDoc is the declaration of a flag.
type FlagDoc struct {
	Names    []string // without dashes; long name last
	Value    string   // placeholder for the value, or ""
	Optional bool     // the value is optional
	Repeated bool
	Default  string
	Text     string
}

// Typed returns the flag in command-line notation: "-m, --message NOTE".
func (f *FlagDoc) Typed() string {
	forms := make([]string, len(f.Names))
	for i, n := range f.Names {
		forms[i] = Dashed(n)
	}
	text := strings.Join(forms, ", ")
	switch {
	case f.Value == "":
		return text
	case f.Optional:
		return text + "[=" + f.Value + "]"
	}
	return text + " " + f.Value
}

// Explained returns the flag's text with its default.
func (f *FlagDoc) Explained() string {
	if f.Default == "" {
		return f.Text
	}
	return f.Text + " (default " + f.Default + ")"
}

// Dashed returns a flag's name with leading dashes.
func Dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// SettingDoc is one row in the table of settings.
type SettingDoc struct {
	Name, GitName, Variable string
	Values                  string // description of valid values
	Default                 string
	FromFile                string // describes whether a worktree file can set it
	Text                    string
	Entries                 []SettingDoc // entries of a setting that is a mapping
}

// Variable is an environment variable outside the settings, or a field of records.
type Variable struct{ Name, Text string }

// Guide is a manual page unrelated to a single command.
type Guide struct {
	Name    string
	Section int
	Usage   string
}

// guides returns all pages except commands and settings.
func guides() []Guide {
	return []Guide{
		{"crash", 7, "continue after a crash, and revert mistakes"},
		{"machine", 7, "continue on another machine"},
		{"agents", 7, "hooks and skills for coding agents"},
		{"turns", 7, "blame, bisect and search over the turns of agents"},
		{"attempts", 7, "several attempts from one checkpoint: compare and adopt"},
		{"workflow", 7, "phases, batches and tasks in scripts"},
		{"ci", 7, "resume CI jobs: GitHub Actions, GitLab CI and others"},
		{"team", 7, "share checkpoints in a team, and keep secrets out"},
		{"retention", 7, "kept and deleted checkpoints, the archive"},
		{"forges", 7, "issues on GitHub, GitLab, Gitea and Forgejo"},
		{"migration", 7, "move in from other tools and systems"},
		{"systems", 7, "crunch, claude, recovery, dotagent and pipeline"},
		{"install", 7, "installation, completion, upgrade and removal"},
		{"model", 7, "issue, branch, checkpoint, workflow: how each begins and ends, and all words"},
		{"json", 7, "the output of each command with --json"},
		{"format", 5, "the stored form of checkpoints"},
		{"record", 5, "the fields of a checkpoint's record"},
		{"limits", 7, "limits of the program, and its costs"},
		{"platforms", 7, "systems, servers and other programs that work on the repository"},
		{"decisions", 7, "why it is built this way"},
		{"comparison", 7, "differences from other tools"},
	}
}

const settingsUsage = "the settings, their values and sources"

// Topics returns all non-command pages for help: the settings and guides.
func Topics() []Guide {
	return append([]Guide{{"settings", 5, settingsUsage}}, guides()...)
}

func (t *Tool) main() Page {
	intro, rest, _ := strings.Cut(guideText("main"), "\n@commands\n")
	text, rest, _ := strings.Cut(rest, "\n@variables\n")
	return Page{Name: t.Name, Section: 1, Usage: t.Usage, blocks: slices.Concat(
		[]block{{kind: section, text: "Synopsis"}, {kind: paragraph, text: "`git checkpoint` <command> [flags] [arguments]"}},
		parse(intro), t.overview(), []block{{kind: section, text: "Flags of every command"}}, flagItems(t.Common),
		parse(text), items(t.Variables), parse(rest), t.seeAlso(""),
	)}
}

func items(variables []Variable) []block {
	blocks := make([]block, len(variables))
	for i, v := range variables {
		blocks[i] = block{kind: item, term: v.Name, text: v.Text}
	}
	return blocks
}

//go:embed guides/*.md
var texts embed.FS

func guideText(name string) string {
	data, err := texts.ReadFile("guides/" + name + ".md")
	if err != nil {
		panic(err) // an unknown name is a bug in this package
	}
	return string(data)
}

func (t *Tool) overview() []block {
	blocks := []block{{kind: section, text: "Commands"}}
	category := ""
	for _, c := range t.Commands {
		if c.Category != category {
			category = c.Category
			blocks = append(blocks, block{kind: subsection, text: category})
		}
		blocks = append(blocks, block{
			kind: item, term: strings.TrimSpace(c.Name + " " + c.Args), text: upper(c.Usage) + ". See " + ref(t.Name+"-"+c.Name, 1) + ".",
		})
	}
	return blocks
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// ref formats a reference to another page.
func ref(name string, section int) string { return fmt.Sprintf("`%s`(%d)", name, section) }

func flagItems(flags []FlagDoc) []block {
	blocks := make([]block, len(flags))
	for i := range flags {
		f := &flags[i]
		text := upper(f.Explained()) + "."
		if f.Repeated {
			text += " It can be repeated."
		}
		blocks[i] = block{kind: item, term: f.Typed(), text: text}
	}
	return blocks
}

// seeAlso generates references to related pages, except page self.
func (t *Tool) seeAlso(self string) []block {
	var refs []string
	if self != "" {
		refs = append(refs, ref(t.Name, 1))
	} else {
		for _, c := range t.Commands {
			refs = append(refs, ref(t.Name+"-"+c.Name, 1))
		}
	}
	if self != "settings" {
		refs = append(refs, ref(t.Name+"-settings", 5))
	}
	for _, g := range guides() {
		if g.Name != self {
			refs = append(refs, ref(t.Name+"-"+g.Name, g.Section))
		}
	}
	return []block{{kind: section, text: "See also"}, {kind: paragraph, text: strings.Join(refs, ", ")}}
}

func (t *Tool) command(c *CommandDoc) Page {
	blocks := []block{
		{kind: section, text: "Synopsis"},
		{kind: paragraph, text: strings.TrimSpace("`git checkpoint " + c.Name + "` [flags] " + c.Args)},
	}
	if c.Alias != "" {
		blocks = append(blocks, block{kind: paragraph, text: strings.TrimSpace("`git checkpoint " + c.Alias + "` [flags] " + c.Args)})
	}
	blocks = append(blocks, block{kind: section, text: "Description"}, block{kind: paragraph, text: upper(c.Usage) + "."})
	blocks = append(blocks, parse(c.Description)...)
	if len(c.Flags) > 0 {
		blocks = append(blocks, block{kind: section, text: "Options"})
	}
	return Page{Name: t.Name + "-" + c.Name, Section: 1, Usage: c.Usage, blocks: slices.Concat(
		blocks, flagItems(c.Flags), []block{{kind: section, text: "Options of every command"}}, flagItems(t.Common), parse(guideText("command")),
		[]block{{kind: section, text: "Examples"}, {kind: verbatim, text: strings.Join(c.Examples, "\n") + "\n"}}, t.seeAlso(c.Name),
	)}
}

func (t *Tool) settings() Page {
	blocks := parse(guideText("settings"))
	blocks = append(blocks, block{kind: section, text: "Settings"})
	for _, s := range t.Settings {
		facts := ""
		if s.Entries == nil {
			facts = s.facts()
		}
		blocks = append(blocks, block{kind: item, term: s.Name, code: s.GitName + "\n" + s.Variable + "\n", text: s.Text + facts})
		for _, e := range s.Entries {
			blocks = append(blocks, block{kind: item, term: e.Name, text: e.Text + e.facts()})
		}
	}
	blocks = append(blocks, block{kind: section, text: "Environment"})
	return Page{Name: t.Name + "-settings", Section: 5, Usage: settingsUsage, blocks: slices.Concat(blocks, items(t.Variables), t.seeAlso("settings"))}
}

// facts returns sentences about the values of a setting.
func (s *SettingDoc) facts() string {
	def := "No default"
	if s.Default != "" {
		def = "Default: `" + s.Default + "`"
	}
	return fmt.Sprintf(" Takes: %s. %s. From a file in the worktree: %s.", s.Values, def, s.FromFile)
}

func (t *Tool) guide(g Guide) Page {
	text, rest, _ := strings.Cut(guideText(g.Name), "\n@fields\n")
	blocks := parse(text)
	if rest != "" {
		for _, f := range t.Fields {
			blocks = append(blocks, block{kind: item, term: f.Name, text: upper(f.Text)})
		}
		blocks = append(blocks, parse(rest)...)
	}
	blocks = append(blocks, t.seeAlso(g.Name)...)
	return Page{Name: t.Name + "-" + g.Name, Section: g.Section, Usage: g.Usage, blocks: blocks}
}
