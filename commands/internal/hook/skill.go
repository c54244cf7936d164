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

const skillMark = "\n<!-- written by git checkpoint hooks install --skill; checksum "

// Skill returns the text of SKILL.md. Its last line has a checksum of the text before it.
func Skill() string { return signSkill(skillText) }

// IsOwnSkill reports whether any version of install wrote text, and nobody edited it.
func IsOwnSkill(text string) bool {
	text = strings.ReplaceAll(text, "\r\n", "\n") // core.autocrlf
	body, _, found := strings.Cut(text, skillMark)
	return found && signSkill(body) == text
}

func signSkill(body string) string {
	return fmt.Sprintf("%s%s%x -->\n", body, skillMark, sha256.Sum256([]byte(body)))
}
