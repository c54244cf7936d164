package document

import (
	"math"
	"strconv"
)

// Number is a number in its original spelling, so that size and precision are preserved.
// Only JSON numbers qualify: 0755, 0x1f, 1_000 and .inf, which YAML parsers interpret
// differently, are text.
type Number string

// Int returns n as a Number.
func Int(n int64) Number { return Number(strconv.FormatInt(n, 10)) }

// Float returns f as a Number, or as text if f is not finite.
func Float(f float64) any {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return s
	}
	return Number(s)
}

// Int returns the value of an integer literal, and false if it does not fit 64 bits.
func (n Number) Int() (int64, bool) {
	i, err := strconv.ParseInt(string(n), 10, 64)
	return i, err == nil
}

// Float returns the nearest float, ±Inf if the literal is out of range.
func (n Number) Float() float64 {
	f, _ := strconv.ParseFloat(string(n), 64)
	return f
}

// isNumber reports whether s is a JSON number.
func isNumber(s string) bool {
	s = trimSign(s)
	rest := Digits(s)
	if len(rest) == len(s) || (s[0] == '0' && len(s)-len(rest) > 1) {
		return false
	}
	if rest != "" && rest[0] == '.' {
		frac := Digits(rest[1:])
		if len(frac) == len(rest)-1 {
			return false
		}
		rest = frac
	}
	return rest == "" || isExponent(rest)
}

func isExponent(s string) bool {
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && Digits(s) == ""
}

func trimSign(s string) string {
	if s != "" && s[0] == '-' {
		return s[1:]
	}
	return s
}

// Digits returns the rest of s after its leading decimal digits.
func Digits(s string) string {
	for s != "" && s[0] >= '0' && s[0] <= '9' {
		s = s[1:]
	}
	return s
}
