#!/bin/sh
# SPDX-License-Identifier: MIT
# pythia(1) on standard output: the page's frame with what the command itself says, so that they agree.
#   make_pythia_1.sh AWK PYTHIA VERSION        beside pythia.1.in, roff.awk and help.awk
set -eu
awk=$1 pythia=$2 version=$3
here=$(dirname "$0")
export ARGP_HELP_FMT='rmargin=4000,opt-doc-col=90,no-dup-args-note' LC_ALL=C

# Where it cannot be run, made for another machine, the page refers to it.
if "$pythia" --version >/dev/null 2>&1; then
    commands=$("$pythia" --help | sed -n '/^Usage/,/^$/d; /^$/q; s/^  \([a-z]*\) .*/\1/p')
else
    commands=
fi

for_each_command() {
    for command in $commands; do
        "$pythia" "$command" --help | "$awk" -f "$here/roff.awk" -f "$here/help.awk" "$@"
    done
    [ -n "$commands" ] || echo 'See \fBpythia \-\-help\fR.'
}

cat <<END
.\\" SPDX-License-Identifier: MIT
.\\" Generated; do not edit.
.TH PYTHIA 1 "" "pythia $version" "Pythia"
.SH NAME
pythia \\- record, predict and read runs of hybrid MPI + OpenMP programs
END
while IFS= read -r line; do
    case $line in
    @synopsis@) for_each_command -v synopsis=1 ;;
    @commands@) for_each_command ;;
    @environment@) [ -z "$commands" ] || "$pythia" --options=man ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$here/pythia.1.in"
