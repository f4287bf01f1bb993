# What fish offers: fish completion.fish SHARE
source $argv[1]/fish/vendor_completions.d/kith.fish

function expect # WHAT LINE
    complete -C $argv[2] | string split -f1 \t | string match -q -- $argv[1]
    or begin
        echo "'$argv[2]' does not offer '$argv[1]' but:" (complete -C $argv[2]) >&2
        exit 1
    end
end

expect run "kith ru"
expect --integrator "kith run --int"
expect leapfrog "kith run --integrator leap"
expect --integrator=yoshida4 "kith run --integrator=yo"
expect yukawa: "kith forces x.csv --law yuk"
expect plummer "kith make plu"
expect h5md "kith convert --to h5"
expect sell "kith multiply --storage se"
expect single "kith run --precision s"
expect forces "kith bench fo"
expect --systems "kith bench forces --sy"
expect laws "kith help la"
