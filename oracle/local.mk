# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-oracle.la
libpythia_oracle_la_SOURCES = %D%/oracle.h
libpythia_oracle_la_LIBADD = -lm
