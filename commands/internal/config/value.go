package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of values. They apply to all sources.
const (
	maxText    = 4096
	maxPattern = 512
	maxName    = 200
	maxItems   = 1000
)

// source is the source of a value, in order of precedence.
type source int

const (
	fromDefault source = iota
	fromFile
	fromGit
	fromEnvironment
	fromFlag
)

// value is a setting's parsed value.
type value struct {
	text   string // canonical form
	num    int    // Bool: 0 or 1; Int, Days: number; Outcome: days for completed chains
	other  int    // Outcome: days for other chains
	list   []string
	pairs  map[string]string
	re     *regexp.Regexp
	source source
	origin string
}

// parse parses the one-line form of a value.
func parse(k *Key, text string) (value, error) {
	switch k.Type {
	case Bool:
		v, err := parseBool(text)
		if err == nil && v.num == 1 && k.Refused != "" {
			err = fmt.Errorf("it cannot be switched on: %s", k.Refused)
		}
		return v, err
	case Int:
		return parseInt(text, k.Min, k.Max)
	case Days:
		return parseAge(text)
	case Outcome:
		return parseOutcome(text)
	case Enum:
		return parseEnum(k, text)
	case Path:
		return value{text: text}, checkTemplate(text)
	case Pattern:
		return parsePattern(text)
	case List:
		return parseList(splitItems(text))
	case Mapping:
		return parseMapping(splitItems(text))
	}
	return parseText(k, text)
}

func parseBool(text string) (value, error) {
	switch strings.ToLower(text) {
	case "true", "yes", "on", "1":
		return value{text: "true", num: 1}, nil
	case "false", "no", "off", "0":
		return value{text: "false"}, nil
	}
	return value{}, fmt.Errorf("want true or false, got %s", shown(text))
}

func parseInt(text string, least, most int) (value, error) {
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text || n < least || n > most {
		return value{}, fmt.Errorf("want %s, got %s", rangeWords(least, most), shown(text))
	}
	return value{text: text, num: n}, nil
}

func parseDays(text string) (value, error) {
	if strings.ToLower(text) == "off" || text == "-1" {
		return value{text: "off", num: -1}, nil
	}
	v, err := parseInt(text, 0, maxDays)
	if err != nil {
		return v, fmt.Errorf("want a number of days up to %d or off, got %s", maxDays, shown(text))
	}
	return v, nil
}

// parseAge is parseDays for an age: 0 days means off, because every chain is older than 0
// days.
func parseAge(text string) (value, error) {
	if text == "0" {
		text = "off"
	}
	return parseDays(text)
}

func parseOutcome(text string) (value, error) {
	first, second, two := strings.Cut(text, ",")
	v, err := parseDays(strings.TrimSpace(first))
	if err != nil || !two {
		v.other = v.num
		return v, err
	}
	w, err := parseDays(strings.TrimSpace(second))
	return value{text: v.text + "," + w.text, num: v.num, other: w.num}, err
}

func parseEnum(k *Key, text string) (value, error) {
	low := strings.ToLower(text)
	if !slices.Contains(k.Values, low) {
		return value{}, fmt.Errorf("want %s, got %s", orWords(k.Values), shown(text))
	}
	return value{text: low}, nil
}

func parsePattern(text string) (value, error) {
	if text == "" {
		return value{}, nil
	}
	if len(text) > maxPattern {
		return value{}, fmt.Errorf("the pattern has %d bytes, at most %d are allowed", len(text), maxPattern)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return value{}, fmt.Errorf("not a regular expression: %s", shown(err.Error()))
	}
	return value{text: text, re: re}, nil
}

func parseText(k *Key, text string) (value, error) {
	if err := checkLine(text, maxText); err != nil {
		return value{}, err
	}
	// git would parse such a remote as an option.
	if k.Name == "remote" && strings.HasPrefix(text, "-") {
		return value{}, fmt.Errorf("a remote cannot begin with -, got %s", shown(text))
	}
	return value{text: text}, nil
}

// checkLine accepts one line of printable text.
func checkLine(text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("the text has %d bytes, at most %d are allowed", len(text), most)
	case !utf8.ValidString(text):
		return fmt.Errorf("the text is not UTF-8: %s", shown(text))
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("control or invisible characters are not allowed: %s", shown(text))
	}
	return nil
}

func rangeWords(least, most int) string {
	return fmt.Sprintf("a whole number from %d to %d", least, most)
}

// orWords joins words for messages: "a, b or c".
func orWords(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
