#!/bin/sh
# Tests a wheel in an environment that has nothing of this project but it: wheel_test.sh WHEEL PYTHON
set -eu
wheel=$1
python=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
tests=$PWD/python/tests
page=$PWD/docs/python.md
"$python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"
cd "$(dirname "$wheel")" # not the repository, whose python/kith has no extension module
package=$("$python" -c 'import kith, os; print(os.path.dirname(kith.__file__))')
"$python" -m pytest -q -p no:cacheprovider -c "$tests/../../pyproject.toml" --rootdir "$tests" \
    --doctest-modules --doctest-ignore-import-errors --import-mode importlib --doctest-glob "*.md" "$package" "$tests" "$page"
