package scan

import (
	"regexp"
	"strings"
	"sync"
)

// table returns all rules, created on first use. The last group of a pattern matches the
// secret.
var table = sync.OnceValue(func() []rule {
	return append(vendorRules(), []rule{
		{name: privateKey, words: []string{"private key"}, pattern: pattern(`-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----`)},
		{name: "aws-access-key", words: []string{"akia", "asia", "abia", "acca", "a3t"}, pattern: pattern(`\b((?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z2-7]{16})\b`)},
		{name: "aws-secret-key", words: []string{"aws"}, pattern: pattern(`(?i)aws.{0,30}secret.{0,30}?['"\s:=]([A-Za-z0-9/+]{40})\b`), random: 4},
		{name: "github-token", words: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, pattern: pattern(`(?:` + textBefore + `|_)(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})`)},
		{name: "gitlab-token", words: []string{"glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "gloas-", "glft-", "glsoat-", "glimt-", "glagent-", "glffct-", "gr1348941"}, pattern: pattern(`(?:` + textBefore + `|_)((?:gl(?:pat|dt|rtr?|cbt|ptt|oas|ft|soat|imt|agent|ffct)-|GR1348941)[A-Za-z0-9_-]{20,}(?:\.[0-9a-z]{9})?)`)},
		{name: "slack-token", words: []string{"xox", "xapp-"}, pattern: pattern(`\b(xoxe\.xox[bp]-\d-[A-Za-z0-9]{100,}|xox[abeoprs]-[A-Za-z0-9-]{8,}|xapp-\d-[A-Za-z0-9-]{16,})`)},
		{name: "slack-webhook", words: []string{"hooks.slack.com"}, pattern: pattern(`hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{40,})`)},
		{name: "stripe-key", words: []string{"sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_prod_", "rk_prod_", "whsec_"}, pattern: pattern(`\b([rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{20,})`), random: 3},
		{name: "google-api-key", words: []string{"aiza"}, pattern: pattern(`\b(AIza[A-Za-z0-9_-]{35})`)},
		{name: "google-oauth", words: []string{"ya29.", "gocspx-"}, pattern: pattern(`\b(ya29\.[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{28})`)},
		{name: "anthropic-key", words: []string{"sk-ant-"}, pattern: pattern(`\b(sk-ant-[A-Za-z0-9]+-[A-Za-z0-9_-]{40,})`)},
		{name: "openai-key", words: []string{"sk-proj-", "sk-svcacct-", "t3blbkfj"}, pattern: pattern(`\b(sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})`)},
		{name: "huggingface-token", words: []string{"hf_"}, pattern: pattern(`\b(hf_[A-Za-z]{34})\b`), random: 3.5},
		{name: "npm-token", words: []string{"npm_"}, pattern: pattern(`\b(npm_[A-Za-z0-9]{36})\b`)},
		{name: "npm-auth", words: []string{":_authtoken", ":_password"}, pattern: pattern(`:_(?:authToken|password)\s*=\s*([A-Za-z0-9+/=_-]{16,})`)},
		{name: "pypi-token", words: []string{"pypi-ageichlwas"}, pattern: pattern(`\b(pypi-AgEIcHlwaS[A-Za-z0-9_-]{50,})`)},
		{name: "sendgrid-key", words: []string{"sg."}, pattern: pattern(`\b(SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50})\b`)},
		{name: "twilio-key", words: []string{"twilio"}, pattern: pattern(`(?i)twilio.{0,40}\b(?:SK)?([0-9a-f]{32})\b`), random: 3},
		{name: "azure-key", words: []string{"accountkey=", "sharedaccesskey="}, pattern: pattern(`(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})`)},
		{name: "digitalocean-token", words: []string{"dop_v1_", "doo_v1_", "dor_v1_"}, pattern: pattern(`\b(do[opr]_v1_[0-9a-f]{64})\b`)},
		{name: "age-key", words: []string{"age-secret-key-"}, pattern: pattern(`\b(AGE-SECRET-KEY-1[A-Z0-9]{58})\b`)},
		{name: "vault-token", words: []string{"hvs.", "hvb."}, pattern: pattern(`\b(hv[sb]\.[A-Za-z0-9_-]{24,})`)},
		{name: "json-web-token", words: []string{"eyj"}, pattern: pattern(`\b(eyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,})`)},
		{name: "bearer-token", words: []string{"bearer"}, pattern: pattern(`(?i)authorization['"]?\s*[:=]\s*['"]?bearer\s+([A-Za-z0-9._~+/-]{20,})`), random: 3.5, byAlphabet: true, digits: true},
		{name: "url-password", loose: true, words: []string{"://"}, pattern: pattern(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@'"<>$]*:([^\s/:@'"]{3,})@[^\s/@]+`)},
		{name: "named-secret", words: []string{"secret", "token", "passw", "api_key", "apikey", "api-key", "private_key", "access_key", "credential"}, pattern: pattern(`(?i)(?:secret|token|passw(?:or)?d|api[_-]?key|private[_-]?key|access[_-]?key|credential)[A-Za-z0-9_-]{0,20}['"]?\s{0,3}(?::=|=>|[:=])\s{0,3}['"]?([A-Za-z0-9+/=_.~!@#%^&*-]{16,200})['"]?(?:[\s,;)}]|$)`), random: 3.7, byAlphabet: true, digits: true, weak: true, loose: true},
		{name: "machine-path", informational: true, loose: true, words: []string{"/home/", "/users/", `\users\`}, pattern: pattern(`(?i)(?:/home/|/users/|[a-z]:\\{1,2}users\\{1,2})([a-z0-9._-]{2,32})[/\\]`)},
	}...)
})

// An Allow lists exceptions for findings. An entry is a rule ("rule"), a path ("path"),
// or a rule with a path ("rule:path"). Paths are relative to the checkpoint's tree. In a
// path, "*" matches any text. A path also matches without its first directory, such as
// staged/.
type Allow []string

// Has reports whether a finding of a rule at a path is allowed.
func (a Allow) Has(rule, path string) bool {
	for _, entry := range a {
		if entry == "" {
			continue
		}
		name, place, both := strings.Cut(entry, ":")
		switch {
		case both && !sameRule(name, rule):
		case both && fitsPath(place, path), !both && (sameRule(entry, rule) || fitsPath(entry, path)):
			return true
		}
	}
	return false
}

// sameRule reports whether a name equals rule or "*".
func sameRule(name, rule string) bool { return name == rule || name == "*" }

// ExternalRule is the rule name for findings of the scan_command program.
const ExternalRule = "scan-command"

// fitsPath reports whether a pattern matches a path, with or without its first directory.
func fitsPath(pattern, path string) bool {
	_, below, _ := strings.Cut(path, "/")
	return glob(pattern, path) || below != "" && glob(pattern, below)
}

// glob reports whether a text matches a pattern with "*".
func glob(pattern, text string) bool {
	matches, err := regexp.MatchString(`(?s)^`+strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`)+`$`, text)
	return matches && err == nil
}
