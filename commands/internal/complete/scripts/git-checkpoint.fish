# Completion of git-checkpoint for fish, and of `git checkpoint`: save it in
# ~/.config/fish/conf.d. Fish looks below completions/ too late for the latter.

function __git_checkpoint_words
    set -l words (commandline -opc) (commandline -ct)
    set -l dir
    if test "$words[1]" = git
        # What git takes before its command; -C is what matters here.
        while set -q words[2]; and test "$words[2]" != checkpoint
            if test "$words[2]" = -C; and set -q words[3]
                set dir -C $words[3]
            end
            set -e words[1]
        end
        set -e words[1]
    end
    set -e words[1]
    set -l lines (git $dir checkpoint completion words -- $words 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path (commandline -ct)
        case dirs
            __fish_complete_directories (commandline -ct) ''
    end
    for line in $lines[2..-1]
        printf '%s\n' $line
    end
end

complete -c git-checkpoint -f -a '(__git_checkpoint_words)'
complete -c git -f -n '__fish_git_using_command checkpoint' -a '(__git_checkpoint_words)'
