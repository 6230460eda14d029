# SPDX-License-Identifier: MIT
# libtool evaluates the commands that install: a blank in DESTDIR or the prefix must be quoted in them.
/func_show_eval/{
s|\$destdir/\$realname"|\\"$destdir/$realname\\""|
s|\$destdir/\$name"|\\"$destdir/$name\\""|
s|\$file \$destfile"|$file \\"$destfile\\""|
s|\\\$file \\\$destfile"|\\$file \\"\\$destfile\\""|
s|(cd \$destdir |(cd \\"$destdir\\" |
}
