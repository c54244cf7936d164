package checkpoint

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIssueRefName(t *testing.T) {
	tests := []struct{ in, want string }{
		{"42", "42"},
		{"PROJ-42", "PROJ-42"},
		{"a/b", "a%2Fb"},
		{"100%", "100%25"},
		{"a b", "a%20b"},
		{".hidden", "%2Ehidden"},
		{"a..b", "a.%2Eb"},
		{"...", "%2E%2E%2E"},
		{"end.", "end%2E"},
		{"x.lock", "x%2Elock"},
		{"x.lock.lock", "x.lock%2Elock"},
		{"v1.2.x", "v1.2.x"},
		{"a@{b}", "a@%7Bb}"},
		{"{b}", "{b}"},
		{"@", "@"},
		{`~^:?*[\`, "%7E%5E%3A%3F%2A%5B%5C"},
		{"-rf", "-rf"},
		{"übung", "übung"},
	}
	for _, tt := range tests {
		i, err := ParseIssue(tt.in)
		require.NoError(t, err, tt.in)
		assert.Equal(t, tt.want, i.RefName())
		back, err := IssueFromRef(tt.want)
		require.NoError(t, err, tt.want)
		assert.Equal(t, i, back)
	}
}

func TestParseIssueRefuses(t *testing.T) {
	for _, s := range []string{"", "a\x00", "a\nb", "\xff", "\u0085", "\x7f", strings.Repeat("x", 201), strings.Repeat("/", 67)} {
		_, err := ParseIssue(s)
		assert.Error(t, err, "%q", s)
	}
	_, err := ParseIssue(strings.Repeat("x", 200))
	assert.NoError(t, err)
}

func FuzzIssue(f *testing.F) {
	for _, s := range append(nasty, "42", "a..b", "x.lock", "@{", "@", ".a.", "//", "%2F") {
		f.Add(s)
	}
	git, err := exec.LookPath("git")
	f.Fuzz(func(t *testing.T, s string) {
		if i, err := IssueFromRef(s); err == nil {
			require.Equal(t, s, i.RefName())
		}
		i, parseErr := ParseIssue(s)
		if parseErr != nil {
			return
		}
		back, backErr := IssueFromRef(i.RefName())
		require.NoError(t, backErr)
		require.Equal(t, i, back)
		if err == nil {
			require.NoError(t, exec.Command(git, "check-ref-format", "refs/checkpoints/"+i.RefName()).Run(), i.RefName())
		}
	})
}

// RefName encodes only characters that git forbids, plus '%' and '/'.
func TestRefNameEncodesOnlyForbiddenCharacters(t *testing.T) {
	for c := byte('!'); c < 0x7f; c++ {
		if c == '%' || c == '/' {
			continue
		}
		s := "a" + string(c) + "b"
		refused := exec.Command("git", "check-ref-format", "refs/checkpoints/"+s).Run() != nil
		assert.Equal(t, refused, Issue(s).RefName() != s, "%q", s)
	}
}

// Branches that name an issue, by issue. Dates, versions and names of standards are no issues.
func TestIssueFromBranch(t *testing.T) {
	for want, branches := range map[Issue]string{
		"": `main v42 1.2.x release/issue-1.2 2026-02-14-notes feature/2026-11-22-x x/2026_11_22-y 2026/11/22/x
			20261122-x RELEASE-2026-11-22 issue-2026-11-22 claude/fix-bug-011CUabc claude/fix-20251122 a-7
			abcdefghijk-7 release-2 Python-3 dependabot/npm/lodash-4.17.21 notes-20251122 007-x release-2.0 v1.2
			v1-2 release/2024-10 release-2024-11 2024-10-cleanup fix-2024-10 2024-q3 2024w07-plan release/7
			release/2-0 hotfix/2-0-1 2024-05-01 CVE-2024-1111 fix/CVE-2024-1111 fix/ISO-8601-dates
			feature/SHA-256-migration rfc-2616 RFC-2616 sha-256 utf-8 UTF-8 iso-8601 es2022 es2022-2 es-2022
			feature/base-64 pep-8-names k8s-1-29 claude-3-5-sonnet log4j-2 covid-19 COVID-19-map agent-1 worktree-3
			devin/1736976987-fix codex/1736976987123 x/20260214143000-y session-7 gpt-5`,
		"42": `feature/issue-42-jwt 42-fix feature/42 issue/42 issue42 Issue_42_x issue-42-PROJ-7
			feature/42-2026-11-22 gh-42 feature/gh-42-x fix-42-x copilot/fix-42 codex/Bug_42 issue/42/PROJ-7
			feature-42 claude/issue-42-20251122 42-2fa-login 42-404-page`,
		"PROJ-42":   `PROJ-42-fix fix/PROJ-42 proj-42 feature/proj-42-x wip-2/proj-42`,
		"7":         `user/7-thing feat/task-7-ticket-8`,
		"20261322":  `20261322-x`,
		"2026":      `2026-fix`,
		"TISSUE-42": `tissue-42`,
		"GH-42":     `GH-42`,
		"AB1-7":     `ab1-7`,
		"3":         `feature/v2/3-x`,
		"2024":      `issue-2024-10-days fix/2024`,
		"PROJ-2024": `PROJ-2024-10`,
		"500":       `fix-500-error`,
		"TEST-7":    `TEST-7`,
	} {
		for branch := range strings.FieldsSeq(branches) {
			got, ok := IssueFromBranch(branch, nil, nil)
			assert.Equal(t, want, got, branch)
			assert.Equal(t, want != "", ok, branch)
		}
	}
	for _, tt := range []struct {
		branch, pattern string
		want            Issue
	}{
		{"work/gh42", `gh(\d+)`, "42"},
		{"work/T-1", `T-\d+`, "T-1"},
		{"issue-42", `gh(\d+)`, ""},
		{"x", `x()`, ""},
	} {
		got, ok := IssueFromBranch(tt.branch, regexp.MustCompile(tt.pattern), nil)
		assert.Equal(t, tt.want, got, tt.branch)
		assert.Equal(t, tt.want != "", ok, tt.branch)
	}
}

func TestNewID(t *testing.T) {
	at := time.Date(2026, 2, 14, 15, 30, 0, 999, time.FixedZone("", 3600))
	digest := []byte{0x1f, 0x0c, 0x9a, 0x2b, 0xff}
	assert.Equal(t, ID("CP-implementing-20260214T143000Z-1f0c9a2b"), NewID("implementing", at, digest))
	assert.Equal(t, ID("CP-none-20260214T143000Z-1f0c9a2b"), NewID("", at, digest))
	assert.Equal(t, ID("CP-ready_to_merge-20260214T143000Z-1f0c9a2b"), NewID("Ready-to merge", at, digest))
	for _, phase := range []string{"", "é", "a/b", strings.Repeat("x", 500), "\x00"} {
		id := NewID(phase, at, nil)
		assert.True(t, id.Own(), string(id))
		_, err := ParseID(string(id))
		assert.NoError(t, err)
	}
}

func TestParseID(t *testing.T) {
	for _, s := range []string{"CP-enrich-20250114-a3f2", "orchestrate_auth_system_20251003_184530", "cp-feat-001", "état", "CP-{phase}-{timestamp}-{hash}"} {
		_, err := ParseID(s)
		assert.NoError(t, err, s)
	}
	for _, s := range []string{"", "a b", "a\n", "\x00", "-x", "\xff", "a\u202eb", "a\u00a0b", strings.Repeat("a", 201)} {
		_, err := ParseID(s)
		assert.Error(t, err, "%q", s)
	}
}

func TestClockNext(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	at := Clock(now.UnixNano())
	day := Clock(24 * time.Hour)
	assert.Equal(t, at, Clock(0).Next(now))
	assert.Equal(t, at+1, at.Next(now))
	assert.Equal(t, at+1000*day+1, (at + 1000*day).Next(now), "a clock years ahead is followed")
	assert.Equal(t, Clock(1<<63-1), Clock(1<<63-2).Next(now))
	assert.Equal(t, at, Clock(1<<63-1).Next(now), "no clock follows the last")
	assert.Equal(t, at, Clock(-1<<63).Next(now))
	assert.True(t, (at + day + 1).Ahead(now))
	assert.False(t, (at + day).Ahead(now))
	assert.False(t, Clock(0).Ahead(now))
	c, ok := ParseClock(at.String())
	assert.True(t, ok)
	assert.Equal(t, at, c)
	for _, s := range []string{"", "-1", "01", "x", "9223372036854775808", " 1"} {
		_, ok := ParseClock(s)
		assert.False(t, ok, s)
	}
}

func TestClockAtIsInRangeForEveryYear(t *testing.T) {
	for year, want := range map[int]Clock{1: 0, 1969: 0, 2116: 1 << 62, 2263: 1 << 62, 9999: 1 << 62} {
		at := ClockAt(time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC))
		assert.Equal(t, want, at, "year %d", year)
		assert.Equal(t, want+1, want.Next(time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)))
	}
}

// Windows opens a device instead of a file with such a name, also with an extension.
func TestKeysThatWindowsReserves(t *testing.T) {
	defer func(is bool) { onWindows = is }(onWindows)
	for _, s := range []string{"aux", "AUX", "con", "nul", "prn", "com1", "com1.x", "LPT9.txt", "nul.a.b", "com²", "conin$", `a"b`, "x<y", "x>y", "p|q"} {
		onWindows = true
		_, err := ParseIssue(s)
		require.ErrorContains(t, err, "Windows reserves", s)
		_, err = IssueFromRef(Issue(s).RefName())
		require.Error(t, err, s)
		onWindows = false
		i, err := IssueFromRef(Issue(s).RefName())
		require.NoError(t, err)
		assert.Equal(t, Issue(s), i)
	}
	onWindows = true
	for _, s := range []string{"auxiliary", "com", "com10", "console", "a.con", "42", "PROJ-1", "a b", "42.", "a:b", "x?", "nul-1", "nul:", "aux "} {
		i, err := ParseIssue(s)
		require.NoError(t, err, s)
		assert.False(t, strings.ContainsAny(i.RefName(), `<>:"/\|?* `), i.RefName())
		assert.NotContains(t, i.RefName()[len(i.RefName())-1:], ".")
	}
}
