package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
)

// worktree creates a directory with one file at a slash-separated path.
func worktree(t testing.TB, name, text string) string {
	t.Helper()
	root := t.TempDir()
	path := filepath.Join(root, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return root
}

// write returns a YAML document that sets one key.
func write(key, text string) string {
	if section, name, ok := strings.Cut(key, "."); ok {
		return section + ":\n  " + name + ": " + text + "\n"
	}
	return key + ": " + text + "\n"
}

// samples lists accepted and refused values of worktree files for each key. A missing key
// fails the test.
var samples = map[string]struct{ yes, no []string }{
	"enabled":         {yes: []string{"true", "false", "no"}},
	"auto_checkpoint": {yes: []string{"true", "false"}},

	"triggers.phase_transition": {yes: []string{"true", "false"}},
	"triggers.batch_complete":   {yes: []string{"true", "false"}},
	"triggers.agent_complete":   {yes: []string{"true", "false"}},
	"triggers.conflict_events":  {yes: []string{"true", "false"}},
	"triggers.batch_start":      {yes: []string{"true", "false"}},
	"triggers.before_agent":     {yes: []string{"true", "false"}},
	"triggers.task_update":      {yes: []string{"true", "false"}},
	"triggers.interval":         {yes: []string{"true", "false"}},
	"triggers.turn":             {yes: []string{"true", "false"}},
	"triggers.user_interrupt":   {[]string{"true"}, []string{"false", "off"}},
	"triggers.session_end":      {[]string{"true"}, []string{"false", "no"}},

	"retention.phase_transition":  {[]string{"-1"}, []string{"0", "1", "1000000"}},
	"retention.conflict_start":    {[]string{"-1"}, []string{"0", "5"}},
	"retention.conflict_resolved": {[]string{"-1"}, []string{"0", "5"}},
	"retention.manual":            {[]string{"-1"}, []string{"0", "5"}},
	"retention.batch_complete":    {[]string{"3", "4", "-1"}, []string{"0", "2"}},
	"retention.agent_complete":    {[]string{"1", "9", "-1"}, []string{"0"}},
	"retention.batch_start":       {[]string{"1", "9", "-1"}, []string{"0"}},
	"retention.before_agent":      {[]string{"1", "9", "-1"}, []string{"0"}},
	"retention.user_interrupt":    {[]string{"1", "9", "-1"}, []string{"0"}},
	"retention.session_end":       {[]string{"1", "9", "-1"}, []string{"0"}},
	"retention.task_update":       {[]string{"1", "9", "-1"}, []string{"0"}},
	"retention.interval":          {[]string{"1", "9", "-1"}, []string{"0"}},
	"retention.turn":              {[]string{"20", "99", "-1"}, []string{"0", "19"}},

	"max_age_days": {[]string{"off", "-1", "0"}, []string{"1", "7", "36500"}},
	"on_success":   {[]string{"archive", "keep"}, []string{"drop"}},
	"on_failure":   {[]string{"archive", "keep"}, []string{"drop"}},
	"archive_days": {[]string{"30", "off", "[7, 30]", "[off, 30]"}, []string{"29", "[6, 30]", "[7, 29]", "0"}},
	"auto_prune":   {yes: []string{"true", "false"}},

	"limits.phase_replans": {[]string{"0", "2", "9"}, []string{"-1", "1001"}},
	"limits.task_retries":  {[]string{"0", "3", "9"}, []string{"-1", "x"}},
	"limits.phase_retries": {[]string{"0", "3", "9"}, []string{"-1", "x"}},

	"transitions":            {[]string{"[]", "[plan test, test -> sprint]"}, []string{"[a, a]", `["a\nb"]`}},
	"limits.untracked_files": {[]string{"1", "20000"}, []string{"0", "10000001"}},
	"limits.tokens":          {[]string{"0", "1000000"}, []string{"-1", "2000000001"}},
	"limits.stale_minutes":   {[]string{"0", "60"}, []string{"-1", "525601"}},
	"min_interval":           {[]string{"0", "60"}, []string{"-1", "3601"}},

	"storage.location":     {insidePaths, outsidePaths},
	"issue_file":           {insidePaths, outsidePaths},
	"limits.checkpoint_mb": {[]string{"1", "50", "100"}, []string{"0", "-1", "1048577"}},
	"limits.file_kb":       {[]string{"1", "1024", "2048"}, []string{"0", "-1", "1.5"}},
	"limits.capture_ms":    {no: []string{"0", "5000"}},
	"mirror":               {[]string{"off", "crunch", "pipeline"}, []string{"/tmp/x"}},

	"issue_pattern":        {[]string{`'^fix/(\d+)-'`}, []string{`'('`, "'" + strings.Repeat("a", maxPattern+1) + "'", `'(a{900}){900}'`}},
	"resume.compat":        {yes: []string{"[]", "[plan build research-and-plan]"}},
	"labels_to_phase":      {[]string{"{status/doing: implementing}"}, []string{`{a: ""}`, `{a: "b\ec"}`}},
	"phases":               {[]string{"[plan, build]"}, []string{"[a, a]", `["a\nb"]`}},
	"issue_source":         {[]string{"auto", "file", "none", "github"}, []string{"command", "COMMAND", "github:evil.example"}},
	"issue_command":        {no: []string{"sh", `""`}},
	"issue_project":        {no: []string{"o/r", "https://evil.example/o/r"}},
	"timeouts.issue":       {no: []string{"1", "60"}},
	"timeouts.issue_cache": {no: []string{"0", "60", "3600"}},
	"forges.github":        {no: []string{"[evil.example]", "[]"}},
	"forges.gitlab":        {no: []string{"[evil.example]"}},
	"forges.gitea":         {no: []string{"[evil.example]"}},
	"scan_command":         {no: []string{"sh"}},
	"scan_allow":           {no: []string{"[named-secret]", "[]"}},
	"remote":               {no: []string{"origin", "https://evil.example/x"}},
	"timeouts.remote":      {no: []string{"0", "5"}},
	"timeouts.sync":        {no: []string{"0", "5"}},
	"push":                 {no: []string{"auto", "never"}},
	"publish_commits":      {no: []string{"true", "false"}},
	"redact":               {[]string{"mask", "block"}, []string{"warn"}},

	"hooks.requests":      {yes: []string{"true", "false"}},
	"hooks.pre_push":      {no: []string{"off", "push", "block"}},
	"timeouts.hook":       {no: []string{"1", "60"}},
	"timeouts.session":    {no: []string{"0", "60"}},
	"hooks.post_checkout": {no: []string{"off", "tell"}},
}

var (
	insidePaths  = []string{"a", "a/{issue}/b", ".claude/x", "a/{issue_number}.yaml", "a..b/...c"}
	outsidePaths = []string{
		"/etc/passwd", "../x", "a/../../x", "..", "a/..", "~/x", `'\\host\share'`, `'a\..\b'`, "'C:x'",
		".git/config", "a/.GIT/b", "'.git. /x'", "GIT~1/x", "a/.../b", "'{home}/x'", `"a\0b"`, `"a\u202eb"`, "'a:b'",
	}
)

func TestWorktreeFileIsLimitedByTrust(t *testing.T) {
	for _, k := range Keys() {
		sample, ok := samples[k.Name]
		require.True(t, ok, "no samples for %s", k.Name)
		require.True(t, k.Trust == Free || len(sample.no) > 0, "%s is not free: say what is refused", k.Name)
		require.True(t, k.Trust == Never || len(sample.yes) > 0, "%s: say what is accepted", k.Name)
		for _, text := range sample.yes {
			t.Run(k.Name+"="+text, func(t *testing.T) {
				s, err := Load(Sources{Root: worktree(t, ".checkpoint.yaml", write(k.Name, text))})
				require.NoError(t, err)
				assert.Regexp(t, `^\.checkpoint\.yaml:[12]$`, s.Origin(k.Name))
			})
		}
		for _, text := range sample.no {
			t.Run(k.Name+"!="+text, func(t *testing.T) {
				s, err := Load(Sources{Root: worktree(t, ".checkpoint.yaml", write(k.Name, text))})
				assert.True(t, s.IsDefault(k.Name))
				if err == nil {
					messages, want := s.Warnings(), `^config: \.checkpoint\.yaml:[12](:\d+)?: `+regexp.QuoteMeta(k.Name)+": "
					if k.Trust == Tighten {
						messages, want = s.NotApplied(), "keeps less than the defaults.*; to set it: git config "+regexp.QuoteMeta(GitName(k.Name))+" "
					}
					require.Len(t, messages, 1)
					assert.Regexp(t, want, messages[0])
					return
				}
				var e *SettingError
				require.ErrorAs(t, err, &e)
				assert.Equal(t, k.Name, e.Key)
				assert.Positive(t, e.Line)
				assert.Positive(t, e.Column)
				assert.True(t, e.InWorktree())
			})
		}
	}
}

func TestTrustedSourcesAreNotLimitedByTrust(t *testing.T) {
	for name, text := range map[string]string{
		"retention.batch_complete": "0", "on_success": "drop", "redact": "warn", "issue_command": "show-issue",
		"remote": "backup", "push": "auto", "hooks.pre_push": "block", "max_age_days": "7", "archive_days": "1,2",
		"storage.location": "/srv/{issue}", "issue_source": "command", "triggers.session_end": "false",
	} {
		k := table()[find(name)]
		s, err := Load(Sources{Git: []gitstore.ConfigEntry{{Key: GitName(k.Name), Value: text, Scope: "local", Origin: "file:.git/config"}}})
		require.NoError(t, err)
		assert.Equal(t, view.Setting{Key: name, Value: text, Origin: "git config (local) .git/config"}, setting(s, name))
		s, err = Load(Sources{Environ: []string{Variable(k.Name) + "=" + text}})
		require.NoError(t, err)
		assert.Equal(t, view.Setting{Key: name, Value: text, Origin: "environment " + Variable(k.Name)}, setting(s, name))
	}
}

// With invalid settings of any source, retention keeps all checkpoints.
func TestInvalidSettingsKeepAllCheckpoints(t *testing.T) {
	for name, src := range map[string]Sources{
		"file":        {Root: worktree(t, ".checkpoint.yaml", "retention: {manual: x}\n")},
		"git":         {Git: []gitstore.ConfigEntry{{Key: "checkpoint.retention.manual", Value: "x", Scope: "local"}}},
		"environment": {Environ: []string{"GIT_CHECKPOINT_RETENTION_MANUAL=x"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Load(src)
			require.Error(t, err)
			assert.Equal(t, err, s.Invalid())
			assert.Empty(t, s.Policy())
		})
	}
}

// An unknown key causes a warning. If it may be a misspelt setting of retention, retention
// removes nothing.
func TestUnknownKeysInTheFile(t *testing.T) {
	for text, keeps := range map[string]bool{"retention: {batch_complet: 9}\n": true, "max_age_day: 9\n": true, "retentoin: {manual: 9}\n": true, "new_feature: 9\n": false} {
		s, err := Load(Sources{Root: worktree(t, ".checkpoint.yaml", text)})
		require.NoError(t, err)
		message := strings.Join(s.NotApplied(), "\n")
		if keeps { // an invalid setting, of which each command warns
			require.Empty(t, message)
			message = s.Invalid().Error()
		}
		assert.Contains(t, message, "unknown setting")
		assert.Equal(t, keeps, len(s.Policy()) == 0, text)
		assert.Equal(t, keeps, s.Invalid() != nil, text)
	}
}
