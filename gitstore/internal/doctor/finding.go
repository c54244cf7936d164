package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// A Finding is one problem.
type Finding struct {
	Error bool // error if set, otherwise a warning
	Text  string
	Fix   Fix // nil if the user has to decide
}

// A Fix repairs a finding and returns a text about the repair.
type Fix func(context.Context) (said string, err error)

func warning(format string, args ...any) Finding { return Finding{Text: fmt.Sprintf(format, args...)} }

func failure(format string, args ...any) Finding {
	return Finding{Error: true, Text: fmt.Sprintf(format, args...)}
}

func (f Finding) withFix(fix Fix) Finding {
	f.Fix = fix
	return f
}

// spell formats a duration.
func spell(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d minutes", int(d.Minutes()))
}

// some lists the first few names of many.
func some(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
