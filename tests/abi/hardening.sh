#!/bin/sh
# The program and the shared library are hardened: hardening.sh PROGRAM LIBRARY
set -eu

fail() { echo "$1 $2" >&2; exit 1; }

check() { # FILE
    segments=$(readelf -lW "$1") dynamic=$(readelf -dW "$1") symbols=$(readelf --dyn-syms -W "$1")
    echo "$segments" | grep -q 'GNU_RELRO' || fail "$1" "has writable relocations: no -z relro"
    echo "$dynamic" | grep -qE 'BIND_NOW|FLAGS_1.*NOW' || fail "$1" "binds late: no -z now"
    echo "$segments" | grep -qE 'GNU_STACK.* RW +0x' || fail "$1" "has a stack that can be executed"
    ! echo "$segments" | grep -qE ' RWE +0x' || fail "$1" "has memory that can be written and executed"
    echo "$symbols" | grep -q '__stack_chk_fail' || fail "$1" "has no stack protector"
    echo "$symbols" | grep -qE '__[a-z]+_chk@' || fail "$1" "is not fortified"
    ! echo "$dynamic" | grep -qE 'TEXTREL' || fail "$1" "relocates its text"
    ! echo "$dynamic" | grep -qE 'RPATH' || fail "$1" "has an RPATH"
}

check "$1"
check "$2"
readelf -hW "$1" | grep -qE 'Type: +DYN' || fail "$1" "is not position-independent"
