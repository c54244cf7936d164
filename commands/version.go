package commands

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
)

var versionCommand = invoke.Command{
	Name: "version", Usage: "print the version", Category: "Help",
	Examples: []string{"git checkpoint version --json"},
	Run:      runVersion,
}

func runVersion(c *invoke.Invocation) error {
	v := buildVersion()
	if c.Line.JSON {
		return c.WriteJSON(v)
	}
	c.Printf("git-checkpoint %s", v.Program)
	date, _, _ := strings.Cut(v.Date, "T")
	if about := strings.Join(slices.DeleteFunc([]string{v.Commit, date}, func(s string) bool { return s == "" }), ", "); about != "" {
		c.Printf(" (%s)", about)
	}
	c.Printf(" %s %s/%s, stored form %s\n", v.Go, runtime.GOOS, runtime.GOARCH, v.Format)
	return nil
}

// buildVersion returns the version from the linker or from the build information.
func buildVersion() view.Version {
	v := view.Version{Type: "version", Program: Version, Commit: Commit, Date: Date, Go: runtime.Version(), Format: "1.0"}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Program = cmp.Or(v.Program, info.Main.Version)
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = cmp.Or(v.Commit, s.Value)
			case "vcs.time":
				v.Date = cmp.Or(v.Date, s.Value)
			}
		}
	}
	v.Program = cmp.Or(v.Program, "(devel)")
	return v
}
