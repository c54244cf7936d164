package odb

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJoinAlternates(t *testing.T) {
	t.Parallel()
	sep := string(os.PathListSeparator)
	require.Equal(t, "/a"+sep+"/b", JoinAlternates([]string{"/a", "/b"}))
	require.Equal(t, `"/b`+sep+`c"`+sep+`"\"quoted\""`+sep+`"#no comment"`, JoinAlternates([]string{"/b" + sep + "c", `"quoted"`, "#no comment"}))
	require.Empty(t, JoinAlternates(nil))
}
