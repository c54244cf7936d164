package hook

import (
	"crypto/sha256"
	_ "embed" // for the skill
	"fmt"
	"strings"
)

// SkillFiles returns the paths of the skill for agents, relative to the project or the
// user's home directory. Most agents read the first directory, Claude Code the second.
// The format is that of https://agentskills.io: a directory with a file SKILL.md.
func SkillFiles() []string {
	return []string{".agents/skills/git-checkpoint/SKILL.md", ".claude/skills/git-checkpoint/SKILL.md"}
}

//go:embed skill.md
var skillText string

var skillMark = mark{"\n<!-- written by git checkpoint hooks install --skill; checksum ", " -->\n"}

// Skill returns the text of SKILL.md.
func Skill() string { return sign(skillText, skillMark) }

// IsOwnSkill reports whether any version of install wrote text, and nobody edited it.
func IsOwnSkill(text string) bool { return isSigned(text, skillMark) }

// A mark is the text around the checksum in the last line of a file that install wrote.
type mark struct{ before, after string }

// sign appends a line with a checksum of the text.
func sign(text string, m mark) string {
	return fmt.Sprintf("%s%s%x%s", text, m.before, sha256.Sum256([]byte(text)), m.after)
}

// isSigned reports whether the checksum in the last line is that of the text before it.
func isSigned(text string, m mark) bool {
	text = strings.ReplaceAll(text, "\r\n", "\n") // core.autocrlf
	body, _, found := strings.Cut(text, m.before)
	return found && sign(body, m) == text
}
