package manual

import "strings"

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
}

// Variable is an environment variable outside the settings.
type Variable struct{ Name, Text string }
