package scan

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
