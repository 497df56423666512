// RUN: attn-opt %s --split-input-file --verify-diagnostics

func.func @layout(%s: i64, %c: index, %p: !attn_tile.fragment<16xf32, row>) {
  // expected-error @below {{expected an accumulator, got '!attn_tile.fragment<16xf32, row>'}}
  %k = attn_tile.dropout %p, %s, %s at(%c, %c, %c, %c) threshold(1) : !attn_tile.fragment<16xf32, row>
  return
}

// -----

func.func @columns(%s: i64, %c: index, %p: !attn_tile.fragment<16x24xf32, accumulator>) {
  // expected-error @below {{expected columns to be a multiple of 16, got 24}}
  %k = attn_tile.dropout %p, %s, %s at(%c, %c, %c, %c) threshold(1) : !attn_tile.fragment<16x24xf32, accumulator>
  return
}

// -----

func.func @heads(%s: i64, %c: index, %p: !attn_tile.fragment<16x16xf32, accumulator>) {
  // expected-error @below {{expected heads to divide 16 rows, got 3}}
  %k = attn_tile.dropout %p, %s, %s at(%c, %c, %c, %c) threshold(1) {heads = 3} : !attn_tile.fragment<16x16xf32, accumulator>
  return
}

// -----

func.func @transposed(%s: i64, %c: index, %p: !attn_tile.fragment<16x16xf32, accumulator>) {
  // expected-error @below {{expected one head with transposed, got 2}}
  %k = attn_tile.dropout %p, %s, %s at(%c, %c, %c, %c) threshold(1) transposed {heads = 2} : !attn_tile.fragment<16x16xf32, accumulator>
  return
}

// -----

func.func @threshold(%s: i64, %c: index, %p: !attn_tile.fragment<16x16xf32, accumulator>) {
  // expected-error @below {{expected threshold to have 32 bits, got 4294967296}}
  %k = attn_tile.dropout %p, %s, %s at(%c, %c, %c, %c) threshold(4294967296) : !attn_tile.fragment<16x16xf32, accumulator>
  return
}
