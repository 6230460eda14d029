# SPDX-License-Identifier: MIT
include_HEADERS += %D%/pythia.h
