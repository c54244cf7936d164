#compdef git-checkpoint
#description record where long work on an issue stands, and resume it

# Completion of git-checkpoint for zsh. Save it as _git-checkpoint in a directory
# that is in fpath before compinit runs; zsh's completion of git finds it there.

local kind line word
local -a before lines shown open openshown plain plainshown

# The first word is checkpoint below git, else the program.
(( CURRENT > 2 )) && before=("${(@Q)words[2,CURRENT-1]}")
lines=("${(@f)$(git-checkpoint completion words -- "${before[@]}" "${(Q)PREFIX}" 2>/dev/null)}")
kind=$lines[1]
shift lines

for line in "${lines[@]}"; do
	word=${line%%$'\t'*}
	[[ -n $word ]] || continue
	line=${line#*$'\t'}
	[[ -n $line ]] && line="$word  -- $line" || line=$word
	if [[ $word == *= ]]; then
		open+=("$word") openshown+=("$line")
	else
		plain+=("$word") plainshown+=("$line")
	fi
done

case $kind in
files) _files ;;
dirs) _files -/ ;;
esac
(( $#open )) && compadd -l -S '' -d openshown -a open
(( $#plain )) && compadd -l -d plainshown -a plain
[[ $kind != words ]] || (( $#open + $#plain ))
