// RUN: attn-opt %s --split-input-file --verify-diagnostics

// paged_c1
func.func @f(%pool: tensor<?x8x16x64xbf16>, %table: tensor<?x?xi32>) {
  // expected-error @+1 {{expected element type of result to be 'bf16', got 'f16'}}
  %k = attn.paged %pool[%table] : tensor<?x8x16x64xbf16>[tensor<?x?xi32>] -> tensor<?x8x?x64xf16>
  return
}

// -----

// paged_c1
func.func @f(%pool: tensor<?x8x16x64xbf16>, %table: tensor<?x?xf32>) {
  // expected-error @+1 {{operand #1 must be 2D tensor of i32 or i64 values or 1D tensor of i32 or i64 values, but got 'tensor<?x?xf32>'}}
  %k = attn.paged %pool[%table] : tensor<?x8x16x64xbf16>[tensor<?x?xf32>] -> tensor<?x8x?x64xbf16>
  return
}

// -----

// paged_c2
func.func @f(%pool: tensor<?x8x?x64xbf16>, %table: tensor<?x?xi32>) {
  // expected-error @+1 {{expected the page size, dimension 2 of the pool, to be static and positive, got a dynamic size}}
  %k = attn.paged %pool[%table] : tensor<?x8x?x64xbf16>[tensor<?x?xi32>] -> tensor<?x8x?x64xbf16>
  return
}

// -----

// paged_c2
func.func @f(%pool: tensor<?x8x0x64xbf16>, %table: tensor<?x?xi32>) {
  // expected-error @+1 {{expected the page size, dimension 2 of the pool, to be static and positive, got 0}}
  %k = attn.paged %pool[%table] : tensor<?x8x0x64xbf16>[tensor<?x?xi32>] -> tensor<?x8x?x64xbf16>
  return
}

// -----

// paged_c3
func.func @f(%pool: tensor<?x8x16x64xbf16>, %table: tensor<3x5xi32>) {
  // expected-error @+1 {{expected result dimension 2 to be 80 as in the pages of the table, got 96}}
  %k = attn.paged %pool[%table] : tensor<?x8x16x64xbf16>[tensor<3x5xi32>] -> tensor<3x8x96x64xbf16>
  return
}

// -----

// paged_c3
func.func @f(%pool: tensor<?x8x16x64xbf16>, %table: tensor<3x5xi32>) {
  // expected-error @+1 {{expected result dimension 0 to be 3 as in the table, got 2}}
  %k = attn.paged %pool[%table] : tensor<?x8x16x64xbf16>[tensor<3x5xi32>] -> tensor<2x8x80x64xbf16>
  return
}

// -----

// paged_c3
func.func @f(%pool: tensor<?x8x16x64xbf16>, %table: tensor<3x5xi32>) {
  // expected-error @+1 {{expected result dimension 1 to be 8 as in the pool, got 4}}
  %k = attn.paged %pool[%table] : tensor<?x8x16x64xbf16>[tensor<3x5xi32>] -> tensor<3x4x80x64xbf16>
  return
}

// -----

// paged_c4
func.func @f(%pool: tensor<4x8x16x64xbf16>, %inner: tensor<3x1xi32>, %table: tensor<2x5xi32>) {
  // expected-note @+1 {{view here}}
  %p = attn.paged %pool[%inner] : tensor<4x8x16x64xbf16>[tensor<3x1xi32>] -> tensor<3x8x16x64xbf16>
  // expected-error @+1 {{expected a pool, got pages of another pool: compose the tables}}
  %k = attn.paged %p[%table] : tensor<3x8x16x64xbf16>[tensor<2x5xi32>] -> tensor<2x8x80x64xbf16>
  return
}

// -----

// paged_c1
func.func @offsets(%pool: tensor<?x8x16x64xbf16>, %table: tensor<?x?xi32>, %offsets: tensor<?xi32>) {
  // expected-error @+1 {{expected offsets with a table of rank 1, and only with one, got 'tensor<?x?xi32>'}}
  %k = attn.paged %pool[%table, %offsets] : tensor<?x8x16x64xbf16>[tensor<?x?xi32>, tensor<?xi32>] -> tensor<?x8x?x64xbf16>
  return
}

// -----

// paged_c1
func.func @entries(%pool: tensor<?x8x16x64xbf16>, %table: tensor<?xi32>) {
  // expected-error @+1 {{expected offsets with a table of rank 1, and only with one, got 'tensor<?xi32>'}}
  %k = attn.paged %pool[%table] : tensor<?x8x16x64xbf16>[tensor<?xi32>] -> tensor<?x8x?x64xbf16>
  return
}

// -----

// paged_c1
func.func @none(%pool: tensor<?x8x16x64xbf16>, %table: tensor<?xi32>, %offsets: tensor<0xi32>) {
  // expected-error @+1 {{expected an offset for each sequence and the end of the last, got none}}
  %k = attn.paged %pool[%table, %offsets] : tensor<?x8x16x64xbf16>[tensor<?xi32>, tensor<0xi32>] -> tensor<?x8x?x64xbf16>
  return
}

// -----

// paged_c3
func.func @batches(%pool: tensor<?x8x16x64xbf16>, %table: tensor<7xi32>, %offsets: tensor<4xi32>) {
  // expected-error @+1 {{expected result dimension 0 to be 3 as in the sequences, got 4}}
  %k = attn.paged %pool[%table, %offsets] : tensor<?x8x16x64xbf16>[tensor<7xi32>, tensor<4xi32>] -> tensor<4x8x112x64xbf16>
  return
}

// -----

// paged_c3
func.func @room(%pool: tensor<?x8x16x64xbf16>, %table: tensor<7xi32>, %offsets: tensor<4xi32>) {
  // expected-error @+1 {{expected result dimension 2 to be 112 as in the pages of the table, got 80}}
  %k = attn.paged %pool[%table, %offsets] : tensor<?x8x16x64xbf16>[tensor<7xi32>, tensor<4xi32>] -> tensor<3x8x80x64xbf16>
  return
}

// -----

// attention_c25
func.func @lengths(%q: tensor<3x8x1x64xbf16>, %pool: tensor<?x8x16x64xbf16>, %table: tensor<?xi32>, %offsets: tensor<4xi32>) {
  // expected-note @+1 {{view here}}
  %k = attn.paged %pool[%table, %offsets] : tensor<?x8x16x64xbf16>[tensor<?xi32>, tensor<4xi32>] -> tensor<3x8x?x64xbf16>
  // expected-error @+1 {{expected key lengths beside pages of a table with offsets}}
  %o = attn.attention %q, %k, %k : tensor<3x8x1x64xbf16>, tensor<3x8x?x64xbf16>, tensor<3x8x?x64xbf16> -> tensor<3x8x1x64xbf16>
  return
}
