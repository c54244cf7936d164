package scan

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	digitChars = "7302918465"
	hexChars   = "4e9a07d3b1c86f25"
	upperChars = "Q7RZ2KXW5MTB9HDV3CNLPGF4SJY6E8A"
	lowerChars = "q7rz2kxw5mtb9hdv3cnlpgf4sjy6e8a"
	mixedChars = "kT7wQ2zRb9XmC4vJh8LpN3sFd6GyA5eHuD"
)

// made returns a made-up value of n characters of an alphabet. Samples are assembled when
// the test runs, so that scanners find no secret in this file.
func made(alphabet string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteByte(alphabet[(i*7+i/len(alphabet))%len(alphabet)])
	}
	return b.String()
}

func d(n int) string { return made(digitChars, n) }
func h(n int) string { return made(hexChars, n) }
func u(n int) string { return made(upperChars, n) }
func l(n int) string { return made(lowerChars, n) }
func a(n int) string { return made(mixedChars, n) }

func uuid() string { return strings.Join([]string{h(8), h(4), h(4), h(4), h(12)}, "-") }

// vendorSamples returns made-up samples of each documented format.
func vendorSamples() map[string][]string {
	return map[string][]string{
		"1password-key":          {"A3-" + u(6) + "-" + u(11) + "-" + u(5) + "-" + u(5) + "-" + u(5), "A3-" + u(6) + "-" + u(6) + "-" + u(5) + "-" + u(5) + "-" + u(5) + "-" + u(5), "ops_eyJ" + a(260) + "="},
		"adobe-secret":           {"p8e-" + l(32)},
		"airtable-token":         {"pat" + a(14) + "." + h(64)},
		"alibaba-key":            {"LTAI" + a(20)},
		"artifactory-key":        {"AKCp" + a(69), "cmVmd" + a(59)},
		"atlassian-token":        {"ATATT3" + a(180) + "=" + u(8), "ATCTT3" + a(180), "ATBB" + a(28) + h(8)},
		"authress-key":           {"sc_" + l(20) + "." + l(5) + ".acc_" + l(12) + "." + l(60), "ext_" + l(20) + "." + l(5) + ".acc-" + l(12) + "." + l(60), "scauth_" + l(20) + "." + l(5) + ".acc_" + l(12) + "." + l(60), "authress_" + l(20) + "." + l(5) + ".acc_" + l(12) + "." + l(60)},
		"aws-bedrock-key":        {"ABSK" + a(128), "bedrock-api-key-" + "YmVkcm9jay5hbWF6b25hd3MuY29t" + a(60)},
		"azure-client-secret":    {a(3) + "8Q~" + a(34)},
		"clickhouse-key":         {"4b1d" + a(38)},
		"clojars-token":          {"CLOJARS_" + h(60)},
		"cloudflare-origin-key":  {"v1.0-" + h(24) + "-" + h(146)},
		"contentful-token":       {"CFPAT-" + a(43)},
		"crates-token":           {"cio" + a(32)},
		"databricks-token":       {"dapi" + h(32), "dapi" + h(32) + "-2"},
		"docker-token":           {"dckr_pat_" + a(27), "dckr_oat_" + a(32)},
		"doppler-token":          {"dp.pt." + a(43), "dp.ct." + a(43), "dp.sa." + a(43), "dp.scim." + a(43), "dp.audit." + a(43)},
		"dropbox-token":          {"sl." + a(136)},
		"duffel-token":           {"duffel_test_" + a(43), "duffel_live_" + a(43)},
		"dynatrace-token":        {"dt0c01." + u(24) + "." + u(64), "dt0s01." + u(8) + "." + u(64), "dt0s16." + u(8) + "." + u(64)},
		"easypost-key":           {"EZAK" + a(54), "EZTK" + a(54)},
		"facebook-token":         {"EAAM" + a(120), "EAAC" + a(120), "EAAG" + a(120), "EAAJ" + a(120)},
		"figma-token":            {"figd_" + a(40), "figu_" + a(40)},
		"flutterwave-key":        {"FLWSECK_TEST-" + h(12), "FLWSECK_TEST-" + h(32) + "-X", "FLWSECK-" + h(32) + "-X", "FLWPUBK_TEST-" + h(32) + "-X", "FLWPUBK-" + h(32) + "-X"},
		"flyio-token":            {"fo1_" + a(43), "fm1a_" + a(120) + "=", "fm1r_" + a(120), "fm2_" + a(120) + "=="},
		"frameio-token":          {"fio-u-" + a(64)},
		"grafana-token":          {"glsa_" + a(32) + "_" + h(8), "glc_" + a(60) + "==", "eyJrIjoi" + a(80) + "="},
		"groq-key":               {"gsk_" + a(52)},
		"harness-token":          {"pat." + a(22) + "." + h(24) + "." + a(20), "sat." + a(22) + "." + h(24) + "." + a(20)},
		"heroku-key":             {"HRKU-AA" + a(58), "HRKU-" + uuid()},
		"huggingface-org-token":  {"api_org_" + strings.Map(letterOnly, a(60))[:34]},
		"infracost-key":          {"ico-" + a(32)},
		"intra42-secret":         {"s-s4t2ud-" + h(64), "s-s4t2af-" + h(64)},
		"langsmith-key":          {"lsv2_pt_" + h(32) + "_" + h(10), "lsv2_sk_" + h(32) + "_" + h(10)},
		"linear-key":             {"lin_api_" + a(40), "lin_oauth_" + h(64), "lin_wh_" + a(40)},
		"mailchimp-key":          {h(32) + "-us14"},
		"mailgun-key":            {"key-" + h(32)},
		"mapbox-token":           {"sk.eyJ" + a(60) + "." + a(22), "tk.eyJ" + a(60) + "." + a(22)},
		"maxmind-key":            {a(6) + "_" + a(29) + "_mmk"},
		"netlify-token":          {"nfp_" + a(36)},
		"newrelic-key":           {"NRAK-" + u(27), "NRAA-" + h(27), "NRJS-" + h(19)},
		"notion-token":           {"ntn_" + d(11) + a(35), "secret_" + a(43)},
		"octopus-key":            {"API-" + u(26)},
		"openrouter-key":         {"sk-or-v1-" + h(64)},
		"openshift-token":        {"sha256~" + a(43)},
		"perplexity-key":         {"pplx-" + a(48)},
		"pinecone-key":           {"pcsk_" + a(5) + "_" + a(63)},
		"planetscale-token":      {"pscale_tkn_" + a(43), "pscale_oauth_" + a(43), "pscale_pw_" + a(43)},
		"posthog-key":            {"phx_" + a(43)},
		"postman-key":            {"PMAK-" + h(24) + "-" + h(34)},
		"prefect-token":          {"pnu_" + a(36), "pnb_" + a(36)},
		"pulumi-token":           {"pul-" + h(40)},
		"readme-key":             {"rdme_" + l(70)},
		"replicate-token":        {"r8_" + a(37)},
		"rubygems-key":           {"rubygems_" + h(48)},
		"scalingo-token":         {"tk-us-" + a(48)},
		"sendinblue-key":         {"xkeysib-" + h(64) + "-" + a(16), "xsmtpsib-" + h(64) + "-" + a(16)},
		"sentry-token":           {"sntrys_eyJ" + a(120) + "_" + a(43), "sntryu_" + h(64)},
		"settlemint-token":       {"sm_aat_" + a(16), "sm_pat_" + a(16), "sm_sat_" + a(16)},
		"shippo-token":           {"shippo_live_" + h(40), "shippo_test_" + h(40)},
		"shopify-token":          {"shpat_" + h(32), "shpca_" + h(32), "shppa_" + h(32), "shpss_" + h(32)},
		"snyk-token":             {"snyk_uat." + h(8) + "." + a(60), "snyk_sat." + h(8) + "." + a(60)},
		"sourcegraph-token":      {"sgp_" + h(40), "sgp_" + h(16) + "_" + h(40), "sgp_local_" + h(40)},
		"square-token":           {"sq0atp-" + a(22), "sq0csp-" + a(43), "EAAA" + a(60)},
		"supabase-key":           {"sbp_" + h(40), "sb_secret_" + a(31)},
		"tailscale-key":          {"tskey-auth-" + a(12) + "-" + a(32), "tskey-api-" + a(12) + "-" + a(32), "tskey-client-" + a(12) + "-" + a(32)},
		"tavily-key":             {"tvly-" + a(32)},
		"telegram-token":         {d(10) + ":AA" + a(33)},
		"terraform-token":        {a(14) + ".atlasv1." + a(67), "tfp_" + a(42)},
		"twilio-api-key":         {"SK" + h(32)},
		"vault-service-token":    {"s." + a(24)},
		"xai-key":                {"xai-" + a(80)},
		"curl-password":          {"curl -sS -u admin:" + a(12) + " https://host/x", "curl --user 'admin:" + a(12) + "' https://host/x", `curl -u "admin:` + a(12) + `" https://host/x`},
		"curl-header":            {"curl -H 'Authorization: Basic " + a(24) + "=' https://host/x", `curl --header "X-Api-Key: ` + a(24) + `" https://host/x`},
		"facebook-app-token":     {"facebook = " + d(16) + "|" + a(27)},
		"freemius-key":           {"'secret_key' => 'sk_" + a(29) + "',"},
		"gitlab-session":         {"Cookie: _gitlab_session=" + l(32)},
		"nuget-password":         {`<add key="ClearTextPassword" value="` + a(12) + `" />`},
		"teams-webhook":          {"https://firm.webhook.office.com/webhookb2/" + uuid() + "@" + uuid() + "/IncomingWebhook/" + h(32) + "/" + uuid()},
		"encoded-json-web-token": {"ZXlK" + a(140)},
	}
}

func letterOnly(r rune) rune {
	if '0' <= r && r <= '9' {
		return -1
	}
	return r
}

// furtherSamples returns samples of the rules in rules.go that several formats share.
func furtherSamples() map[string][]string {
	gitlab := []string{"GR1348941" + a(20), "glpat-" + a(27) + "." + l(9), "glrt-t1_" + a(27) + "." + l(9)}
	for _, kind := range []string{"pat", "dt", "rt", "rtr", "cbt", "ptt", "oas", "ft", "soat", "imt", "agent", "ffct"} {
		gitlab = append(gitlab, "gl"+kind+"-"+a(24))
	}
	return map[string][]string{
		"gitlab-token":       gitlab,
		"aws-access-key":     {"AKIA" + "QRSTUVWXYZ234567", "ABIA" + "QRSTUVWXYZ234567", "ACCA" + "QRSTUVWXYZ234567", "A3TX" + "QRSTUVWXYZ234567", "ASIA" + "QRSTUVWXYZ234567"},
		"github-token":       {"ghp_" + a(36), "gho_" + a(36), "ghu_" + a(36), "ghs_" + a(36), "ghr_" + a(36), "github_pat_" + a(82)},
		"slack-token":        {"xoxb-" + d(12) + "-" + d(12) + "-" + a(24), "xoxp-" + d(12) + "-" + d(12) + "-" + d(12) + "-" + h(32), "xoxe.xoxp-1-" + a(163), "xoxe-1-" + a(146), "xapp-1-" + u(11) + "-" + d(13) + "-" + h(64), "xoxs-" + d(10) + "-" + d(10) + "-" + d(10) + "-" + h(10), "xoxa-2-" + a(30)},
		"stripe-key":         {"sk_test_" + a(24), "sk_live_" + a(24), "rk_live_" + a(24), "rk_prod_" + a(24), "whsec_" + a(32)},
		"digitalocean-token": {"dop_v1_" + h(64), "doo_v1_" + h(64), "dor_v1_" + h(64)},
		"slack-webhook":      {"https://hooks.slack.com/" + "triggers/" + u(9) + "/" + d(13) + "/" + h(32)},
		"named-secret":       {"api_token = \"" + h(32) + "\"", "api_token: " + h(20), "secret_key=" + strings.ToUpper(h(40)), "password = \"" + l(16) + "\""},
		"bearer-token":       {"Authorization: Bearer " + h(32)},
	}
}

// TestVendorFormats checks that each documented format is found as a whole line, in an
// assignment, and after a name with "_", that a shortened sample is not found, and that a record
// contains no part of a sample.
func TestVendorFormats(t *testing.T) {
	for name, samples := range vendorSamples() {
		r := named(name)
		require.NotNil(t, r, name)
		assert.GreaterOrEqual(t, len(samples), len(r.keywords), "a sample of each format of %s", name)
		for _, sample := range samples {
			masked, rules := Mask("note", "it is "+sample+" here", nil)
			assert.Contains(t, rules, name, sample)
			assert.Contains(t, masked, "[redacted:"+name+"]", sample)
			assert.Contains(t, searchText([]byte("first\n"+sample+"\n")), Finding{name, 2}, sample)
			assert.Contains(t, searchText([]byte(`{"value": "`+sample+`"}`)), Finding{name, 1}, sample)
			if len(r.keywords) > 0 {
				assert.NotContains(t, searchText([]byte(sample[:len(sample)/4]+"\n")), Finding{name, 1}, sample)
				assert.NotContains(t, searchText([]byte("x"+sample)), Finding{name, 1}, sample)
			}
		}
	}
	for name, samples := range furtherSamples() {
		for _, sample := range samples {
			assert.Contains(t, searchText([]byte(sample+"\n")), Finding{name, 1}, sample)
		}
	}
}

// TestNoFindings checks values that are no secrets, although a secret's name is near.
func TestNoFindings(t *testing.T) {
	for _, text := range []string{
		"Password: user2.options.Password,",
		"token: ya29.a0AfH6SMC78...",
		"https://user:***@host/",
		"https://user:pwd@host/ and https://$USER:$PASSWORD@host/",
		"Authorization: Bearer someauthorizationtokenofthisserver",
		"token = 1764000000000000000",
		"curl -u user:password https://host/x",
		"curl -u \"$USER:$PASSWORD\" https://host/x",
		"curl -H \"Authorization: Bearer $TOKEN\" https://host/x",
		"curl -H 'Authorization: Bearer your-token-1234' https://host/x",
		"task SKILL.md, API-KEYS, s.someMethodOfAStructure(x), path pattern patpat",
		"!s.ReadUint24LengthPrefixed(&chain) || s.ReadUint16LengthPrefixed, but",
		"sha256:" + h(64), "integrity sha512-" + a(86) + "==", "commit " + h(40),
		"image: registry/app@sha256:" + h(64),
	} {
		assert.Empty(t, searchText([]byte(text+"\n")), text)
	}
}

func named(name string) *rule {
	i := slices.IndexFunc(table(), func(r rule) bool { return r.name == name })
	if i < 0 {
		return nil
	}
	return &table()[i]
}
