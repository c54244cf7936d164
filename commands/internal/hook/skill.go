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

// SkillMark marks a file of the skill.
var SkillMark = Mark{"\n<!-- written by git checkpoint hooks install --skill; checksum ", " -->\n"}

// Skill returns the text of SKILL.md.
func Skill() string { return SkillMark.Sign(skillText) }

// A Mark is the text around the checksum in the last line of a file that install wrote.
type Mark struct{ before, after string }

// Sign appends a line with a checksum of the text.
func (m Mark) Sign(text string) string {
	return fmt.Sprintf("%s%s%x%s", text, m.before, sha256.Sum256([]byte(text)), m.after)
}

// IsOwn reports whether any version of install wrote text, and nobody edited it: the checksum in
// the last line is that of the text before it.
func (m Mark) IsOwn(text string) bool {
	text = strings.ReplaceAll(text, "\r\n", "\n") // core.autocrlf
	body, _, found := strings.Cut(text, m.before)
	return found && m.Sign(body) == text
}
