package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"git-checkpoint/gitstore/checkpoint/document"
)

// MaxIssueBytes limits the encoded form of an issue key, which becomes a file name.
const MaxIssueBytes = 200

// Issue is the key of a chain of checkpoints: a number ("42"), a tracker key ("PROJ-42")
// or any other line of text.
type Issue string

// ParseIssue checks s and returns it as an Issue. It rejects empty text, invalid UTF-8,
// control characters, and keys with a ref name over MaxIssueBytes. On Windows it also
// rejects keys that cannot be file names there.
func ParseIssue(s string) (Issue, error) {
	switch {
	case s == "":
		return "", errors.New("issue: empty")
	case !utf8.ValidString(s):
		return "", fmt.Errorf("issue %q: not valid UTF-8", s)
	case strings.ContainsFunc(s, unicode.IsControl):
		return "", fmt.Errorf("issue %q: contains a control character", s)
	}
	i := Issue(s)
	// The encoding of such keys is the same on all systems, because a key has only one ref name.
	if onWindows && (strings.ContainsAny(s, `"<>|`) || devices().MatchString(i.RefName())) {
		return "", fmt.Errorf("issue %q: Windows reserves this name, or a character of it", s)
	}
	if n := len(i.RefName()); n > MaxIssueBytes {
		return "", fmt.Errorf("issue %.40q...: %d bytes as a ref name, the limit is %d", s, n, MaxIssueBytes)
	}
	return i, nil
}

// onWindows is a variable for tests.
var onWindows = runtime.GOOS == "windows"

// devices matches the names of devices, which Windows reserves with any extension.
var devices = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\.|$)`)
})

// RefName returns the issue as a single component of a ref name. Characters forbidden by
// git check-ref-format, '%' and '/' are percent-encoded. So the encoding is reversible
// and never nests.
func (i Issue) RefName() string {
	s := string(i)
	var b strings.Builder
	for k := 0; k < len(s); k++ {
		if forbiddenAt(s, k) {
			fmt.Fprintf(&b, "%%%02X", s[k])
			continue
		}
		b.WriteByte(s[k])
	}
	return b.String()
}

// IssueFromRef returns the issue of the last component of a ref. It rejects components
// that RefName would not produce, so that each issue has exactly one ref.
func IssueFromRef(component string) (Issue, error) {
	s, err := url.PathUnescape(component)
	if err != nil {
		return "", fmt.Errorf("ref component %q: %w", component, err)
	}
	i, err := ParseIssue(s)
	if err != nil {
		return "", fmt.Errorf("ref component %q: %w", component, err)
	}
	if i.RefName() != component {
		return "", fmt.Errorf("ref component %q: not in canonical form, want %q", component, i.RefName())
	}
	return i, nil
}

// Number returns the issue as an integer if it is decimal without sign and leading zeros.
func (i Issue) Number() (int64, bool) {
	n, err := strconv.ParseInt(string(i), 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != string(i) {
		return 0, false
	}
	return n, true
}

// CompareIssues orders numbers by value, before other keys.
func CompareIssues(a, b Issue) int {
	x, aIsNumber := a.Number()
	y, bIsNumber := b.Number()
	switch {
	case aIsNumber && bIsNumber:
		return cmp.Compare(x, y)
	case aIsNumber != bIsNumber:
		return map[bool]int{true: -1, false: 1}[aIsNumber]
	}
	return cmp.Compare(a, b)
}

// Dates and versions in branch names. Their numbers are not issue numbers.
var (
	day = document.Pattern(`(^|[^0-9])(?:19|20)[0-9]{2}(?:-[01][0-9]-[0-3][0-9]|_[01][0-9]_[0-3][0-9]|/[01][0-9]/[0-3][0-9])($|[^0-9])`)

	// compact matches a date, with or without a time, and a Unix time in seconds or milliseconds.
	compact = document.Pattern(`^(?:(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[0-2][0-9][0-5][0-9](?:[0-5][0-9])?)?|1[0-9]{9}(?:[0-9]{3})?)$`)

	// month matches a month, quarter, week or half of a year.
	month = document.Pattern(`(?i)(^|[^0-9])(?:19|20)[0-9]{2}[-_/]?(?:(?:0[1-9]|1[0-2])|[-_/]?(?:q[1-4]|w[0-5]?[0-9]|h[12]))($|[^0-9A-Za-z])`)

	// version matches a version of three numbers, and a number below the folder of versions.
	version = document.Pattern(`(?i)(^|/)(?:v?[0-9]+[-_][0-9]+[-_][0-9]+|(?:releases?|rel|versions?|ver|v|stable|milestones?|sprints?)/v?[0-9]+(?:[-_][0-9]+)*)($|[^0-9A-Za-z])`)
)

// branchRules are the built-in rules in order. They match whole words of the branch name:
// "1.2.x" and "v42" are not issues.
var branchRules = []branchRule{
	{pattern: document.Pattern(`(?i)(?:^|[/_-])issues?(?:[-_]|//)?#?([1-9][0-9]{0,17})(?:$|[^0-9A-Za-z.])`), explicit: true},
	{pattern: document.Pattern(`(?:^|/)([A-Z][A-Z0-9]+)-([1-9][0-9]{0,17})(?:$|[^0-9A-Za-z.])`), explicit: true},
	{pattern: document.Pattern(`(?:^|/)#?([1-9][0-9]{0,17})(?:$|[-_/])`)},
	{pattern: document.Pattern(`(?i)(?:^|/)(?:gh|gl|fix|bug|bugfix|hotfix|feat|feature|task|ticket)[-_]#?([1-9][0-9]{0,17})(?:$|[^0-9A-Za-z.])`)},
	{pattern: document.Pattern(`(?:^|/)([A-Za-z][A-Za-z0-9]{1,9})-([1-9][0-9]{0,17})(?:$|[^0-9A-Za-z.])`)},
}

// A branchRule matches an issue number, or a project and a number.
type branchRule struct {
	pattern func() *regexp.Regexp

	// explicit rules match the word "issue", or a project in upper case. Numbers of months and
	// days and words of noProjects are then part of the key.
	explicit bool
}

// standards lists words in front of the number of a standard, an algorithm or a notice. They
// name no project of a tracker in upper case either: "CVE-2024-1111" and "RFC-2616" are not
// issues.
var standards = wordSet(`
	rfc iso iec ieee ansi din ecma es pep jep jsr sec cve cwe ghsa wcag fips nist
	utf ucs ascii base sha md crc aes rsa des hmac hkdf pbkdf ed curve ecdsa
	http https tls ssl ipv ip oauth oidc saml usb html xhtml pcie sata nvme hdmi wifi unicode mp h vp av gb covid sars soc pci`)

// noProjects lists words that are often followed by a number, but name no project of a
// tracker in lower case: "release-2" and "python-3" are not issues.
var noProjects = wordSet(`
	alpha beta rc pre preview stable release releases rel ver version versions major minor milestone
	step steps part phase stage sprint iteration round wave batch attempt try retry take draft
	chapter lesson exercise section level page item case option variant proposal plan adr
	day days week month quarter year test tests demo example sample spike poc exp experiment
	pr pull mr patch rev revision change build run job ci wip tmp temp backup bak copy old new save
	python py node nodejs npm go golang java jdk jre php ruby rust perl net dotnet swift kotlin scala
	react vue angular rails django spring qt gtk gcc clang llvm cuda ubuntu debian fedora centos
	alpine windows win macos ios android linux kernel postgres mysql redis
	k8s kubernetes helm docker podman terraform ansible log4j junit jest vite webpack next nuxt svelte tailwind bootstrap
	jquery eslint maven gradle bazel cmake boost hadoop kafka spark flink elastic elasticsearch mongo mongodb sqlite
	mariadb nginx apache httpd tomcat jetty openssl gnome kde xcode flask fastapi numpy pandas torch pytorch tensorflow
	unity unreal electron chrome chromium firefox safari rhel suse rocky arm armv x86 amd riscv cpp cxx csharp
	css xml json yaml pdf ddr tls tcp udp bluetooth opengl vulkan directx webgl wasm
	typescript ts js lua ghc elixir otp erlang ocaml dart flutter deno bun yarn pnpm symfony laravel wordpress drupal odoo
	agent agents subagent worker worktree wt session thread chat prompt model claude opus sonnet haiku codex gpt gemini
	grok llama qwen kimi glm deepseek mistral copilot cursor devin jules aider opencode droid amp`)

// versioned matches a word that ends with its own version, such as v1 and es2022.
var versioned = document.Pattern(`^(?:v|es|rc)[0-9]+$`)

func wordSet(text string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		words := map[string]bool{}
		for _, w := range strings.Fields(text) {
			words[w] = true
		}
		return words
	})
}

// IssueFromBranch returns the issue in a branch name: 42 for "feature/issue-42-jwt",
// "42-fix" and "copilot/fix-42", PROJ-42 for "PROJ-42-fix" and "proj-42". A custom pattern
// replaces the built-in rules. Its first group is the issue, or the whole match if the
// pattern has no group. isProject, which can be nil, reports that a word of the tables names a project
// of a tracker here.
func IssueFromBranch(branch string, replaced *regexp.Regexp, isProject func(word string) bool) (Issue, bool) {
	if replaced != nil {
		m := replaced.FindStringSubmatch(branch)
		if m == nil {
			return "", false
		}
		i, err := ParseIssue(m[min(1, len(m)-1)])
		return i, err == nil
	}
	branch = day().ReplaceAllString(branch, "${1}day${2}")
	other := version().ReplaceAllString(month().ReplaceAllString(branch, "${1}month${2}"), "${1}version${2}")
	for _, rule := range branchRules {
		text := other
		if rule.explicit {
			text = branch
		}
		if found, ok := rule.find(text, isProject); ok {
			i, err := ParseIssue(found)
			return i, err == nil
		}
	}
	return "", false
}

// find returns the issue in a branch name.
func (rule branchRule) find(branch string, isProject func(word string) bool) (key string, ok bool) {
	// A match ends with the slash that the next match begins with.
	for _, m := range rule.pattern().FindAllStringSubmatch(strings.ReplaceAll(branch, "/", "//"), -1) {
		number := m[len(m)-1]
		if !rule.explicit && compact().MatchString(number) {
			continue
		}
		if len(m) == 2 {
			return number, true
		}
		word := strings.ToLower(m[1])
		isName := standards()[word] || versioned().MatchString(word) || !rule.explicit && noProjects()[word]
		if !isName || isProject != nil && isProject(strings.ToUpper(m[1])) {
			return strings.ToUpper(m[1]) + "-" + number, true
		}
	}
	return "", false
}

// forbiddenAt applies the rules of git check-ref-format to byte k of s.
func forbiddenAt(s string, k int) bool {
	c := s[k]
	switch {
	case c <= ' ' || c == 0x7f:
		return true
	case c == '{':
		return k > 0 && s[k-1] == '@'
	case c == '.':
		return k == 0 || k == len(s)-1 || s[k-1] == '.' || s[k:] == ".lock"
	}
	return strings.IndexByte(`%/~^:?*[\`, c) >= 0
}
