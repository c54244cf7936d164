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

// Record is the path of a record, whose texts Mask processes.
const Record = "checkpoint.yaml"

// Mask replaces secrets in a record's text, unless allowed, and returns the rules that
// matched. key is the text's key in the record. A text without secrets is returned
// unchanged.
func Mask(key, text string, allow Allow) (masked string, rules []string) {
	const between = ": "
	candidates := mentioned(lowered(nil, []byte(key+between+text)))
	if candidates == (set{}) {
		return text, nil
	}
	before, other := len(key)+len(between), false
	for i := range table() {
		r := &table()[i]
		if !candidates.has(i) || r.informational || r.weak && other {
			continue // as in inLine: another rule already identified the value by its format
		}
		found := r.mask(key+between+text, before)
		if found == text {
			continue
		}
		if allow.Has(r.name, Record) {
			other = true
			continue
		}
		text, rules = found, append(rules, r.name)
	}
	return text, rules
}

// mask returns the text from an offset, with every secret replaced.
func (r *rule) mask(text string, from int) string {
	var b strings.Builder
	at := from
	for _, m := range r.pattern().FindAllStringSubmatchIndex(text, -1) {
		start, end := lastGroup(m)
		line := strings.LastIndexByte(text[:start], '\n') + 1
		rest, _, _ := strings.Cut(text[end:], "\n")
		if start < at || !r.fits(text[start:end]) || isAllowed(text[line:end]+rest) {
			continue
		}
		if r.name == privateKey {
			if last := lastLine().FindStringIndex(text[end:]); last != nil {
				end += last[1]
			} else {
				end = len(text)
			}
		}
		b.WriteString(text[at:start])
		b.WriteString("[redacted:" + r.name + "]")
		at = end
	}
	b.WriteString(text[at:])
	return b.String()
}

// privateKey is the rule that matches only the first line of a key.
const privateKey = "private-key"

var lastLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-----END (?s:.*?)-----`) })

// vendorRules returns the rules for the documented formats of vendors' keys and
// tokens. Every format has a literal that other text rarely contains.
func vendorRules() []rule {
	return []rule{
		formatRule("1password-key", "A3-{u:6}-{u:6}-{u:5}-{u:5}-{u:5}-{u:5}", "A3-{u:6}-{u:11}-{u:5}-{u:5}-{u:5}", "ops_eyJ{b:250,}"),
		formatRule("adobe-secret", "p8e-{a:32}"),
		formatRule("airtable-token", "pat{a:14}.{h:64}"),
		formatRule("alibaba-key", "LTAI{a:20}"),
		formatRule("artifactory-key", "AKCp{a:69}", "cmVmd{a:59}"),
		formatRule("atlassian-token", "ATATT3{x:100,}", "ATCTT3{x:100,}", "ATBB{a:28}{h:8}"),
		formatRule("authress-key", "sc_{a:5,30}.{a:4,6}.acc{w:11,33}.{x:30,}", "ext_{a:5,30}.{a:4,6}.acc{w:11,33}.{x:30,}",
			"scauth_{a:5,30}.{a:4,6}.acc{w:11,33}.{x:30,}", "authress_{a:5,30}.{a:4,6}.acc{w:11,33}.{x:30,}"),
		formatRule("aws-bedrock-key", "ABSK{b:109,}", "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{b:20,}"),
		formatRule("azure-client-secret", "{x:3}{d:1}Q~{x:31,34}"),
		formatRule("clickhouse-key", "4b1d{a:38}").gated(3.5),
		formatRule("clojars-token", "CLOJARS_{a:60}"),
		formatRule("cloudflare-origin-key", "v1.0-{h:24}-{h:146}"),
		formatRule("contentful-token", "CFPAT-{w:43}"),
		formatRule("crates-token", "cio{a:32}").gated(3.7).withDigits(),
		formatRule("databricks-token", "dapi{h:32}"),
		formatRule("docker-token", "dckr_pat_{w:27,}", "dckr_oat_{w:27,}"),
		formatRule("doppler-token", "dp.pt.{a:40,44}", "dp.ct.{a:40,44}", "dp.sa.{a:40,44}", "dp.scim.{a:40,44}", "dp.audit.{a:40,44}"),
		formatRule("dropbox-token", "sl.{w:130,}"),
		formatRule("duffel-token", "duffel_test_{x:43}", "duffel_live_{x:43}"),
		formatRule("dynatrace-token", "dt0c01.{a:24}.{a:64}", "dt0s01.{a:8}.{a:64}", "dt0s16.{a:8}.{a:64}"),
		formatRule("easypost-key", "EZAK{a:54}", "EZTK{a:54}"),
		formatRule("facebook-token", "EAAM{a:100,}", "EAAC{a:100,}", "EAAG{a:100,}", "EAAJ{a:100,}").gated(4),
		formatRule("figma-token", "figd_{w:40,}", "figu_{w:40,}"),
		formatRule("flutterwave-key", "FLWSECK_TEST-{a:12}", "FLWSECK_TEST-{a:32}-X", "FLWSECK-{a:32}-X", "FLWPUBK_TEST-{a:32}-X", "FLWPUBK-{a:32}-X"),
		formatRule("flyio-token", "fo1_{w:43}", "fm1a_{b:100,}", "fm1r_{b:100,}", "fm2_{b:100,}"),
		formatRule("frameio-token", "fio-u-{x:64}"),
		formatRule("grafana-token", "glsa_{a:32}_{h:8}", "glc_{b:32,}", "eyJrIjoi{a:60,}"),
		formatRule("groq-key", "gsk_{a:52}"),
		formatRule("harness-token", "pat.{w:22}.{a:24}.{a:20}", "sat.{w:22}.{a:24}.{a:20}"),
		formatRule("heroku-key", "HRKU-{w:60}", "HRKU-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
		formatRule("huggingface-org-token", "api_org_{a:34}").gated(3),
		formatRule("infracost-key", "ico-{a:32}").gated(3),
		formatRule("intra42-secret", "s-s4t2ud-{h:64}", "s-s4t2af-{h:64}"),
		formatRule("langsmith-key", "lsv2_pt_{h:32}_{h:10}", "lsv2_sk_{h:32}_{h:10}"),
		formatRule("linear-key", "lin_api_{a:40}", "lin_oauth_{a:40,}", "lin_wh_{a:40}"),
		formatRule("mailchimp-key", "{h:32}-us{d:1,2}").gated(3),
		formatRule("mailgun-key", "key-{h:32}").gated(3),
		formatRule("mapbox-token", "sk.eyJ{w:20,}.{w:20,}", "tk.eyJ{w:20,}.{w:20,}"),
		formatRule("maxmind-key", "{a:6}_{a:29}_mmk"),
		formatRule("netlify-token", "nfp_{a:36}"),
		formatRule("newrelic-key", "NRAK-{u:27}", "NRAA-{h:27}", "NRJS-{h:19}"),
		formatRule("notion-token", "ntn_{d:11}{a:35}", "secret_{a:43}").gated(3.5),
		formatRule("octopus-key", "API-{u:25,32}").gated(3).withDigits(),
		formatRule("openrouter-key", "sk-or-v1-{h:64}"),
		formatRule("openshift-token", "sha256~{w:43}"),
		formatRule("perplexity-key", "pplx-{a:48,}"),
		formatRule("pinecone-key", "pcsk_{w:60,}"),
		formatRule("planetscale-token", "pscale_tkn_{x:32,}", "pscale_oauth_{x:32,}", "pscale_pw_{x:32,}"),
		formatRule("posthog-key", "phx_{a:40,}"),
		formatRule("postman-key", "PMAK-{h:24}-{h:34}"),
		formatRule("prefect-token", "pnu_{a:36}", "pnb_{a:36}"),
		formatRule("pulumi-token", "pul-{h:40}"),
		formatRule("readme-key", "rdme_{l:70}"),
		formatRule("replicate-token", "r8_{a:37}"),
		formatRule("rubygems-key", "rubygems_{h:48}"),
		formatRule("scalingo-token", "tk-us-{w:48}"),
		formatRule("sendinblue-key", "xkeysib-{h:64}-{a:16}", "xsmtpsib-{h:64}-{a:16}"),
		formatRule("sentry-token", "sntrys_eyJ{b:40,}", "sntryu_{h:64}"),
		formatRule("settlemint-token", "sm_aat_{a:16}", "sm_pat_{a:16}", "sm_sat_{a:16}"),
		formatRule("shippo-token", "shippo_live_{h:40}", "shippo_test_{h:40}"),
		formatRule("shopify-token", "shpat_{h:32}", "shpca_{h:32}", "shppa_{h:32}", "shpss_{h:32}"),
		formatRule("snyk-token", "snyk_uat.{h:8}.{w:20,}", "snyk_sat.{h:8}.{w:20,}"),
		formatRule("sourcegraph-token", "sgp_{h:40}", "sgp_{h:16}_{h:40}", "sgp_local_{h:40}"),
		formatRule("square-token", "sq0atp-{w:22,}", "sq0csp-{w:22,}", "EAAA{w:60}").gated(3.5),
		formatRule("supabase-key", "sbp_{h:40}", "sb_secret_{w:20,}"),
		formatRule("tailscale-key", "tskey-auth-{w:20,}", "tskey-api-{w:20,}", "tskey-client-{w:20,}"),
		formatRule("tavily-key", "tvly-{w:32,}"),
		formatRule("telegram-token", "{d:8,10}:AA{w:33}"),
		formatRule("terraform-token", "{a:14}.atlasv1.{x:60,70}", "tfp_{a:40,}"),
		formatRule("twilio-api-key", "SK{h:32}").gated(3),
		formatRule(vaultService, "s.{a:24}").gated(3.5).withDigits(),
		formatRule("xai-key", "xai-{a:80}"),

		{name: "curl-password", loose: true, words: []string{"curl"}, pattern: pattern(`\bcurl\b[^|;]{0,200}?\s(?:-u|--user)[ =]?(?:"[^\s":]{0,80}:([^"\s$][^"\s]{2,})"|'[^\s':]{0,80}:([^'\s]{3,})'|[^\s'":]{1,80}:([^\s'"$][^\s'"]{2,}))`), random: 2},
		{name: "curl-header", loose: true, words: []string{"curl"}, pattern: pattern(`(?i)\bcurl\b[^|;]{0,200}?\s(?:-H|--header)[ =]?["'](?:authorization:\s{0,3}(?:basic\s|bearer\s|token\s)?|[a-z0-9-]{0,20}(?:api-?key|token):)\s{0,3}([\w+/=.~-]{8,})["']`), random: 2.75, digits: true},
		{name: "facebook-app-token", words: []string{"facebook", "fb_", "access_token"}, pattern: pattern(`\b(\d{15,16}(?:\||%7C)[0-9A-Za-z_-]{27,40})(?:[^\w-]|$)`), random: 3},
		{name: "freemius-key", words: []string{"secret_key"}, pattern: pattern(`["']secret_key["']\s*=>\s*["'](sk_[^\s"']{29})["']`)},
		{name: "gitlab-session", words: []string{"_gitlab_session="}, pattern: pattern(`_gitlab_session=([0-9a-z]{32})\b`)},
		{name: "nuget-password", words: []string{"<add"}, pattern: pattern(`(?i)<add\s+key="(?:ClearText)?Password"\s+value="([^"]{8,})"`)},
		{name: "teams-webhook", words: []string{"webhook.office.com"}, pattern: pattern(`webhook\.office\.com/webhookb2/[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/([0-9a-f]{32}/[0-9a-f-]{36})`)},
		{name: "encoded-json-web-token", words: []string{"zxlk"}, pattern: pattern(`\b(ZXlK[A-Za-z0-9+/_-]{100,})`), random: 4},
	}
}

// gated returns the rule with a minimum entropy.
func (r rule) gated(bits float64) rule {
	r.random = bits
	return r
}

// withDigits returns the rule for secrets that contain a digit.
func (r rule) withDigits() rule {
	r.digits = true
	return r
}
