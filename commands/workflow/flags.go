package workflow

import (
	"slices"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
)

// A verbFlags lists the flags of one verb.
type verbFlags struct {
	name  string
	flags []string
}

// checkVerb returns an error if a flag belongs to other verbs only.
func checkVerb(c *invoke.Invocation, verbs []verbFlags, typed string) error {
	i := slices.IndexFunc(verbs, func(v verbFlags) bool { return v.name == typed })
	for _, v := range verbs {
		for _, name := range v.flags {
			if (c.Flags.IsSet(name) || len(c.Lists[name]) > 0) && !slices.Contains(verbs[i].flags, name) {
				return exit.Usagef("%s %s: --%s does not go with it", c.Name, typed, name)
			}
		}
	}
	return nil
}
