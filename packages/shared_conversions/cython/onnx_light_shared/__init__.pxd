# SPDX-License-Identifier: Apache-2.0
# Declarations of the shared C++ headers. Nothing here exists at run time, so any package may cimport it.
