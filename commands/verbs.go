package commands

import "slices"

// verbFlags are the flags that go with a verb of a command.
type verbFlags struct {
	name  string
	flags []string
}

// checkVerb refuses flags of other verbs that do not go with the one that was
// typed.
func (c *Invocation) checkVerb(verbs []verbFlags, typed string) error {
	i := slices.IndexFunc(verbs, func(v verbFlags) bool { return v.name == typed })
	for _, v := range verbs {
		for _, name := range v.flags {
			if (c.flags.IsSet(name) || len(c.lists[name]) > 0) && !slices.Contains(verbs[i].flags, name) {
				return usagef("%s %s: --%s does not go with it", c.flags.Command.Name, typed, name)
			}
		}
	}
	return nil
}
