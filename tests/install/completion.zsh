# What zsh offers: zsh completion.zsh SHARE
#
# A shell on a terminal of its own completes, and prints the words instead of showing them.
emulate -R zsh
zmodload zsh/zpty || exit 1

zpty shell zsh -f -i
zpty -w shell "fpath=(${(q)1}/zsh/site-functions \$fpath); autoload -U compinit; compinit -D -u"
zpty -w shell 'compadd() {
    if [[ " ${(j: :)@[1,(i)--]} " == *" -"[ADO]* ]]; then builtin compadd "$@"; return; fi
    local -a hits; builtin compadd -A hits "$@"; builtin compadd "$@"
    print -rn -- "hit:"${^hits}";"
}'
zpty -w shell 'finish() { print -rn -- "all""-offered" }; comppostfuncs=(finish)'
zpty -w shell "bindkey '^I' list-choices; LISTMAX=10000; print -r -- set-\"up\""

# Everything the shell prints up to a word.
read_until() {
    local chunk
    REPLY=
    while [[ $REPLY != *$1* ]]; do
        zpty -r shell chunk || return 1
        REPLY+=$chunk
    done
}

read_until set-up || { print -u2 "zsh did not start: $REPLY"; exit 1 }

expect() { # WHAT LINE
    zpty -w -n shell $'\x15'"$2"$'\t'
    read_until all-offered || { print -ru2 "zsh ended: $REPLY"; exit 1 }
    [[ $REPLY == *"hit:$1;"* ]] || { print -ru2 "'$2' does not offer '$1' but: $REPLY"; exit 1 }
    zpty -w -n shell $'\x15'"comppostfuncs=(finish)"$'\n' # zsh calls them once
}

expect 'run' 'kith ru'
expect '--integrator' 'kith run --int'
expect 'leapfrog' 'kith run --integrator leap'
expect 'yoshida4' 'kith run --integrator=yo'
expect 'lennard-jones' 'kith forces x.csv --law len'
expect 'yukawa:' 'kith forces x.csv --law yuk'
expect 'plummer' 'kith make plu'
expect 'plummer' 'kith run plu'
expect 'h5md' 'kith convert --to h5'
expect 'sell' 'kith multiply --storage se'
expect 'single' 'kith run --precision s'
expect 'forces' 'kith bench fo'
expect '--systems' 'kith bench forces --sy'
expect 'laws' 'kith help la'
zpty -d shell
