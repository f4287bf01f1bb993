#!/bin/sh
# Tests a wheel in an environment that has nothing of this project but it: wheel_test.sh WHEEL PYTHON [torch]
# With torch, whose environment is another one: the tests of its tensors; without: all others.
set -eu
wheel=$1
python=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
tests=$PWD/python/tests
page=$PWD/docs/python.md
"$python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"
cd "$(dirname "$wheel")" # not the repository, whose python/kith has no extension module
if [ "${3:-}" = torch ]; then
    set -- "$tests"/test_tensors.py "$tests"/test_torch*.py
else
    package=$("$python" -c 'import kith, os; print(os.path.dirname(kith.__file__))')
    set -- --doctest-modules --doctest-ignore-import-errors --doctest-glob "*.md" \
        --ignore "$tests/test_tensors.py" --ignore-glob "$tests/test_torch*" "$package" "$tests" "$page"
fi
"$python" -m pytest -q -p no:cacheprovider -c "$tests/../../pyproject.toml" --rootdir "$tests" --import-mode importlib "$@"
