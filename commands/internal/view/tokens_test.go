package view

import (
	"math"
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

func TestTokensText(t *testing.T) {
	for _, c := range []struct {
		tokens checkpoint.Tokens
		want   string
	}{
		{checkpoint.Tokens{}, ""},
		{checkpoint.Tokens{Input: 999, Output: 1}, "999 in, 1 out"},
		{checkpoint.Tokens{Input: 4, CacheWrite: 12000, Output: 3400, CacheRead: 240000}, "12k in, 3.4k out, 240k cached"},
		{checkpoint.Tokens{Input: 1000, Output: 9949, CacheRead: 9951}, "1k in, 9.9k out, 10k cached"},
		{checkpoint.Tokens{Input: 999499, Output: 999500, CacheRead: 1_250_000_000}, "999k in, 1M out, 1.2G cached"},
		{checkpoint.Tokens{CacheRead: 1}, "0 in, 0 out, 1 cached"},
		{checkpoint.Tokens{Output: math.MaxInt64}, "0 in, 9223372T out"},
	} {
		assert.Equal(t, c.want, TokensText(c.tokens))
	}
}
