// RUN: attn-opt %s --attn-tile-backward="tile-n=0" --verify-diagnostics

// expected-error @+1 {{options tile-m and tile-n: expected positive sizes, got 0 and 0}}
module {
}
