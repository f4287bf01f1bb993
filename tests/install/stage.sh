#!/bin/sh
# Installs a build into a folder: stage.sh CMAKE BUILD-FOLDER STAGE
set -eu
rm -rf "$3"
"$1" --install "$2" --prefix "$3" >/dev/null
"$3/bin/kith" --version
