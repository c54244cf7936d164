package manual

import "strings"

// Tool is all that is declared of the program.
type Tool struct {
	Name      string // git-checkpoint
	Usage     string // one line
	Version   string
	Date      string // of the version, YYYY-MM-DD
	Commands  []CommandDoc
	Common    []FlagDoc // of every command
	Settings  []SettingDoc
	Variables []Variable
}

// CommandDoc is one command as it is declared.
type CommandDoc struct {
	Name, Alias string
	Category    string
	Usage       string // one line
	Args        string // what stands after the name
	Description string
	Examples    []string // commands to type
	Flags       []FlagDoc
}

// FlagDoc is one flag as it is declared.
type FlagDoc struct {
	Names    []string // without dashes, the long one last
	Value    string   // the word for its value, "" for none
	Optional bool     // the value may be left out
	Repeated bool
	Default  string
	Text     string
}

// Typed is the flag as it is typed: "-m, --message NOTE".
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

// Explained is what the flag does, with its default.
func (f *FlagDoc) Explained() string {
	if f.Default == "" {
		return f.Text
	}
	return f.Text + " (default " + f.Default + ")"
}

// Dashed is a flag's name with the dashes before it.
func Dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// SettingDoc is one row of the settings.
type SettingDoc struct {
	Name, GitName, Variable string
	Values                  string // what it takes, in words
	Default                 string
	FromFile                string // whether a file in the worktree may set it
	Text                    string
}

// Variable is one of the environment that is no setting.
type Variable struct{ Name, Text string }
