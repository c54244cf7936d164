package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// splitItems splits a one-line list or mapping at commas.
func splitItems(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func parseList(items []string) (value, error) {
	if len(items) > maxItems {
		return value{}, fmt.Errorf("%d names, at most %d are allowed", len(items), maxItems)
	}
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		if err := checkName(item); err != nil {
			return value{}, err
		}
		if seen[item] {
			return value{}, fmt.Errorf("%s stands there twice", shown(item))
		}
		seen[item] = true
	}
	return value{text: strings.Join(items, ","), list: items}, nil
}

// parseMapping parses label=phase items. A label itself can contain "=".
func parseMapping(items []string) (value, error) {
	pairs := make([][2]string, 0, len(items))
	for _, item := range items {
		at := strings.LastIndexByte(item, '=')
		if at < 0 {
			return value{}, fmt.Errorf("want label=phase, got %s", shown(item))
		}
		pairs = append(pairs, [2]string{strings.TrimSpace(item[:at]), strings.TrimSpace(item[at+1:])})
	}
	return parsePairs(pairs)
}

func parsePairs(pairs [][2]string) (value, error) {
	if len(pairs) > maxItems {
		return value{}, fmt.Errorf("%d entries, at most %d are allowed", len(pairs), maxItems)
	}
	v := value{pairs: make(map[string]string, len(pairs))}
	for _, p := range pairs {
		for _, name := range p {
			if err := checkName(name); err != nil {
				return value{}, err
			}
		}
		if _, twice := v.pairs[p[0]]; twice {
			return value{}, fmt.Errorf("%s stands there twice", shown(p[0]))
		}
		v.pairs[p[0]] = p[1]
	}
	v.text = pairsText(v.pairs)
	return v, nil
}

// pairsText returns the sorted one-line form of a mapping.
func pairsText(pairs map[string]string) string {
	items := make([]string, 0, len(pairs))
	for _, label := range slices.Sorted(maps.Keys(pairs)) {
		items = append(items, label+"="+pairs[label])
	}
	return strings.Join(items, ",")
}

func checkName(name string) error {
	if name == "" {
		return fmt.Errorf("a name is empty")
	}
	return checkLine(name, maxName)
}
