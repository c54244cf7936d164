# Completion of git-checkpoint for bash, for `git checkpoint` by git's own
# completion. As a file named git-checkpoint below
# ~/.local/share/bash-completion/completions it is found when it is needed;
# otherwise source it after git's.

# __git_checkpoint_reply CUR COMMAND...: offers what COMMAND prints. What is not
# a word of the tool is quoted: a name may have been chosen to be run.
__git_checkpoint_reply ()
{
	local cur="$1" breaks="" strip="" line word kind=""
	shift
	COMPREPLY=()
	# Bash breaks words there too, and wants back what comes after.
	case "$COMP_WORDBREAKS" in *=*) breaks="=" ;; esac
	case "$COMP_WORDBREAKS" in *:*) breaks="$breaks:" ;; esac
	if [ -n "$breaks" ]; then
		strip="${cur%"${cur##*[$breaks]}"}"
	fi
	while IFS= read -r line; do
		if [ -z "$kind" ]; then
			kind="$line"
			continue
		fi
		word="${line%%$'\t'*}"
		word="${word#"$strip"}"
		printf -v word '%q' "$word"
		case "$word" in
		*=) ;;
		*) word="$word " ;;
		esac
		COMPREPLY+=("$word")
	done < <("$@" 2>/dev/null)
	# With no reply, bash offers files.
}

# What git's completion calls for `git checkpoint`; words, cword and cur are its.
_git_checkpoint ()
{
	local at="${__git_cmd_idx:-}"
	if [ -z "$at" ]; then
		at=1
		while [ "$at" -lt "$cword" ] && [ "${words[at]}" != checkpoint ]; do
			at=$((at + 1))
		done
	fi
	__git_checkpoint_reply "$cur" __git checkpoint completion words -- \
		"${words[@]:at+1:cword-at-1}" "$cur"
}

# The same for `git-checkpoint`.
__git_checkpoint_main ()
{
	local cur words cword prev
	if declare -F _get_comp_words_by_ref >/dev/null; then
		_get_comp_words_by_ref -n =: cur words cword prev
	else
		words=("${COMP_WORDS[@]}")
		cword=$COMP_CWORD
		cur="${words[cword]}"
	fi
	__git_checkpoint_reply "$cur" git-checkpoint completion words -- \
		"${words[@]:1:cword-1}" "$cur"
}

complete -o bashdefault -o default -o nospace -F __git_checkpoint_main git-checkpoint
