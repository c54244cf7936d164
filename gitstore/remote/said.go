package remote

import "strings"

// explain makes one line of what git says when a connection fails: the cause
// stands first, and a general remark after it.
func explain(stderr string) string {
	var said []string
	for text := range strings.Lines(stderr) {
		text = strings.TrimSpace(text)
		switch lower := strings.ToLower(text); {
		case text == "", strings.HasPrefix(lower, "warning:"), strings.HasPrefix(lower, "hint:"),
			strings.HasPrefix(text, "Pseudo-terminal will not"), strings.HasPrefix(text, "From "), strings.HasPrefix(text, "To "):
			continue
		}
		for _, prefix := range []string{"fatal: ", "error: ", "remote: "} {
			text = strings.TrimPrefix(text, prefix)
		}
		said = append(said, withoutPasswords(text))
	}
	if len(said) == 0 {
		return "git ended without a word"
	}
	return said[0]
}

// remoteSays is the first line that the other side's hook or server printed.
func remoteSays(stderr string) string {
	for text := range strings.Lines(stderr) {
		if said, ok := strings.CutPrefix(text, "remote: "); ok && strings.TrimSpace(said) != "" {
			return withoutPasswords(strings.TrimSpace(said))
		}
	}
	return ""
}
