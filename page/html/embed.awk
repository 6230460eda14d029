# SPDX-License-Identifier: MIT
# Makes C strings of files: `awk -f embed.awk page.html style.css … > assets.h`; page.html becomes page_html_page. Lines
# are literals of their own; comment lines of scripts stay out of the page.
function name(file) { sub(/.*\//, "", file); sub(/\..*/, "", file); return file }
FNR == 1 {
    if (NR > 1) print "    ;"
    script = FILENAME ~ /\.js$/
    printf "static const char page_html_%s[] =\n", name(FILENAME)
}
{
    if (script && /^\/\/ /) next
    gsub(/\\/, "&&")
    gsub(/"/, "\\\\&")
    printf "    \"%s\\n\"\n", $0
}
END { print "    ;" }
