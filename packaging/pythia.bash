# SPDX-License-Identifier: MIT
# Completion of pythia(1) in bash. Commands and options are asked of the command itself, so that this cannot grow old.

_pythia_commands()
{
    "$1" --help 2>/dev/null | sed -n '/^Usage/,/^$/d; /^$/q; s/^  \([a-z]*\) .*/\1/p'
}

# Long options of a command; those with a value end in "=".
_pythia_options()
{
    "$1" "$2" --help 2>/dev/null | sed -n 's/^  *\(-[^ ],* \)* *\(--[a-z-]*=*\).*/\2/p'
}

# The words that an option takes, by name or letter, as the command itself says when it is given none of them:
# "--view must be summary, ranks or path, not '?'", "--act is '?', expected team|task|wait".
_pythia_values()
{
    "$1" "$2" "$3" '?' 2>&1 </dev/null | sed -n -e "1s/.* must be \([a-z].*\), not '?'\$/\1/p" \
        -e "1s/.* is '?', expected \(.*\)/\1/p" | sed -e '/^a number/d; s/, / /g; s/ or / /; s/|/ /g'
}

# Where the program begins: after record, predict or doctor, behind the options. Index in COMP_WORDS, empty before it.
_pythia_program()
{
    local i options
    options=" $(_pythia_options "${COMP_WORDS[0]}" "${COMP_WORDS[1]}" | tr '\n' ' ')"
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --) echo $((i + 1)); return ;;
        -o | -i | -c | -a) ((i++)) ;;
        --*)
            if [ "${COMP_WORDS[i + 1]}" = = ]; then
                ((i += 2))
            else
                case $options in *" ${COMP_WORDS[i]}= "*) ((i++)) ;; esac
            fi ;;
        -*) ;;
        *) echo "$i"; return ;;
        esac
    done
}

_pythia()
{
    local command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} option='' words at
    COMPREPLY=()
    # "--view=sum" comes as three words.
    if [ "$word" = = ]; then
        option=$before word=
    elif [ "$before" = = ]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    else
        option=$before
    fi
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_pythia_commands "${COMP_WORDS[0]}") --help --version --options" -- "$word")
        return
    fi
    if [ "$command" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_pythia_commands "${COMP_WORDS[0]}")" -- "$word")
        return
    fi
    case $command in
    record | predict | doctor)
        at=$(_pythia_program)
        if [ -n "$at" ]; then
            if declare -F _command_offset >/dev/null; then
                _command_offset "$at"
            elif [ "$COMP_CWORD" -gt "$at" ]; then
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
            fi
            return
        fi
        ;;
    esac
    case $option in
    -*) words=$(_pythia_values "${COMP_WORDS[0]}" "$command" "$option") ;;
    esac
    if [ -n "$words" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
        return
    fi
    case $word in
    -*)
        mapfile -t COMPREPLY < <(compgen -W "$(_pythia_options "${COMP_WORDS[0]}" "$command")" -- "$word")
        case ${COMPREPLY[*]-} in *=) compopt -o nospace 2>/dev/null ;; esac
        return
        ;;
    esac
    case $command:$option in
    record:-o | record:--output | predict:-[oi] | predict:--output | predict:--input) ;;
    *:--plugin)
        mapfile -t COMPREPLY < <(compgen -f -- "$word"; compgen -W 'trace.so counters.so' -- "$word")
        return
        ;;
    record:--depth | record:--kinds | predict:--depth | predict:--kinds | *:-c) return ;;
    record:* | predict:* | doctor:*)
        mapfile -t COMPREPLY < <(compgen -A command -A file -- "$word")
        return
        ;;
    esac
    # Job files first; any file where there is none.
    mapfile -t COMPREPLY < <(compgen -f -X '!*.pythia' -- "$word"; compgen -d -S / -- "$word")
    [ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- "$word")
    compopt -o filenames 2>/dev/null
}

complete -F _pythia pythia
