// RUN: attn-opt %s --split-input-file --verify-diagnostics
// What an attn.attention_backward of 8-bit inputs goes with.

func.func @f(%q: tensor<1x2x8x32xf8E4M3FN>, %k: tensor<1x2x8x32xf8E4M3FN>, %o: tensor<1x2x8x32xbf16>, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x32xbf16>, %s: tensor<1xf32>) {
  // expected-error@+1 {{expected d_output of 8 bits with inputs of 'f8E4M3FN', got 'bf16'}}
  %g:3 = attn.attention_backward %q, %k, %k output(%o : tensor<1x2x8x32xbf16>) lse(%lse : tensor<1x2x8xf32>) d_output(%do : tensor<1x2x8x32xbf16>) : tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN> -> tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>
  return
}

// -----

func.func @f(%q: tensor<1x2x8x32xbf16>, %k: tensor<1x2x8x32xbf16>, %o: tensor<1x2x8x32xbf16>, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x32xf8E5M2>, %s: tensor<1xf32>) {
  // expected-error@+1 {{expected element type of d_output to be 'bf16' or 'f32', got 'f8E5M2'}}
  %g:3 = attn.attention_backward %q, %k, %k output(%o : tensor<1x2x8x32xbf16>) lse(%lse : tensor<1x2x8xf32>) d_output(%do : tensor<1x2x8x32xf8E5M2>) : tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16> -> tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>
  return
}

// -----

func.func @f(%q: tensor<1x2x8x32xbf16>, %k: tensor<1x2x8x32xf8E4M3FN>, %o: tensor<1x2x8x32xbf16>, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x32xbf16>, %s: tensor<1xf32>) {
  // expected-error@+1 {{expected keys and values of the type of query, 'bf16', got 'f8E4M3FN'}}
  %g:3 = attn.attention_backward %q, %k, %k output(%o : tensor<1x2x8x32xbf16>) lse(%lse : tensor<1x2x8xf32>) d_output(%do : tensor<1x2x8x32xbf16>) : tensor<1x2x8x32xbf16>, tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN> -> tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>
  return
}

// -----

func.func @f(%q: tensor<1x2x8x32xbf16>, %k: tensor<1x2x8x32xbf16>, %o: tensor<1x2x8x32xbf16>, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x32xbf16>, %s: tensor<1xf32>) {
  // expected-error@+1 {{expected inputs of f8E4M3FN or f8E5M2 with descale and scale_ds, got 'bf16'}}
  %g:3 = attn.attention_backward %q, %k, %k output(%o : tensor<1x2x8x32xbf16>) lse(%lse : tensor<1x2x8xf32>) d_output(%do : tensor<1x2x8x32xbf16>) scale_ds(%s : tensor<1xf32>) : tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16> -> tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>
  return
}

// -----

func.func @f(%q: tensor<1x2x8x32xf8E4M3FN>, %k: tensor<1x2x8x32xf8E4M3FN>, %o: tensor<1x2x8x32xf64>, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x32xf8E4M3FN>, %s: tensor<1xf32>) {
  // expected-error@+1 {{expected element type of output to be f16, bf16 or f32 with inputs of 'f8E4M3FN', got 'f64'}}
  %g:3 = attn.attention_backward %q, %k, %k output(%o : tensor<1x2x8x32xf64>) lse(%lse : tensor<1x2x8xf32>) d_output(%do : tensor<1x2x8x32xf8E4M3FN>) : tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN> -> tensor<1x2x8x32xf32>, tensor<1x2x8x32xf32>, tensor<1x2x8x32xf32>
  return
}

// -----

func.func @f(%q: tensor<1x2x8x32xf8E4M3FN>, %k: tensor<1x2x8x32xf8E4M3FN>, %o: tensor<1x2x8x32xf16>, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x32xf8E4M3FN>, %s: tensor<1xf32>) {
  // expected-error@+1 {{expected element type of d_query to be 'f16' or 'f32', got 'bf16'}}
  %g:3 = attn.attention_backward %q, %k, %k output(%o : tensor<1x2x8x32xf16>) lse(%lse : tensor<1x2x8xf32>) d_output(%do : tensor<1x2x8x32xf8E4M3FN>) : tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN> -> tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>
  return
}

// -----

func.func @f(%q: tensor<1x2x8x32xf8E4M3FN>, %k: tensor<1x2x8x32xf8E4M3FN>, %o: tensor<1x2x8x32xf32>, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x32xf8E4M3FN>, %s: tensor<1xf32>) {
  // expected-error@+1 {{expected element type of d_query to be 'bf16' or 'f32', got 'f16'}}
  %g:3 = attn.attention_backward %q, %k, %k output(%o : tensor<1x2x8x32xf32>) lse(%lse : tensor<1x2x8xf32>) d_output(%do : tensor<1x2x8x32xf8E4M3FN>) : tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN> -> tensor<1x2x8x32xf16>, tensor<1x2x8x32xf16>, tensor<1x2x8x32xf16>
  return
}

// -----

func.func @f(%q: tensor<1x2x8x32xf8E4M3FN>, %k: tensor<1x2x8x32xf8E4M3FN>, %o: tensor<1x2x8x32xbf16>, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x32xf8E4M3FN>, %s: tensor<1xf32>) {
  // expected-error@+1 {{expected descales of query, key, value and d_output, which have 8 bits, got 1}}
  %g:3 = attn.attention_backward %q, %k, %k output(%o : tensor<1x2x8x32xbf16>) lse(%lse : tensor<1x2x8xf32>) d_output(%do : tensor<1x2x8x32xf8E4M3FN>) descale(%s : tensor<1xf32>) : tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN> -> tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>
  return
}

// -----

func.func @f(%q: tensor<1x2x8x32xf8E4M3FN>, %k: tensor<1x2x8x32xf8E4M3FN>, %o: tensor<1x2x8x32xbf16>, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x32xf8E4M3FN>, %s: tensor<1xf32>, %t: tensor<2xf32>) {
  // expected-error@+1 {{expected the descale of d_output to be [1] or [B, Hkv], got a vector of 2}}
  %g:3 = attn.attention_backward %q, %k, %k output(%o : tensor<1x2x8x32xbf16>) lse(%lse : tensor<1x2x8xf32>) d_output(%do : tensor<1x2x8x32xf8E4M3FN>) descale(%s, %s, %s, %t : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<2xf32>) : tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN> -> tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>
  return
}

// -----

func.func @f(%q: tensor<1x2x8x32xf8E4M3FN>, %k: tensor<1x2x8x32xf8E4M3FN>, %o: tensor<1x2x8x32xbf16>, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x32xf8E4M3FN>, %s: tensor<1xf32>, %t: tensor<2xf32>) {
  // expected-error@+1 {{expected scale_ds to be [1], got a vector of 2}}
  %g:3 = attn.attention_backward %q, %k, %k output(%o : tensor<1x2x8x32xbf16>) lse(%lse : tensor<1x2x8xf32>) d_output(%do : tensor<1x2x8x32xf8E4M3FN>) scale_ds(%t : tensor<2xf32>) : tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN> -> tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>
  return
}

// -----

func.func @f(%q: tensor<1x2x8x32xf8E4M3FN>, %k: tensor<1x2x8x32xf8E4M3FN>, %o: tensor<1x2x8x32xbf16>, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x32xf8E4M3FN>, %s: tensor<1xf32>, %b: tensor<1x1x8x8xf32>) {
  // expected-error@+1 {{expected, with inputs of 'f8E4M3FN', no bias: add it in score_mod}}
  %g:3 = attn.attention_backward %q, %k, %k bias(%b : tensor<1x1x8x8xf32>) output(%o : tensor<1x2x8x32xbf16>) lse(%lse : tensor<1x2x8xf32>) d_output(%do : tensor<1x2x8x32xf8E4M3FN>) : tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN> -> tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>
  return
}

// -----

func.func @f(%q: tensor<1x2x8x32xf8E4M3FN>, %k: tensor<1x2x8x32xf8E4M3FN>, %o: tensor<1x2x8x32xbf16>, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x32xf8E4M3FN>, %s: tensor<1xf32>, %n: i64) {
  // expected-error@+1 {{expected, with inputs of 'f8E4M3FN', no dropout}}
  %g:3 = attn.attention_backward %q, %k, %k output(%o : tensor<1x2x8x32xbf16>) lse(%lse : tensor<1x2x8xf32>) d_output(%do : tensor<1x2x8x32xf8E4M3FN>) dropout(%n, %n) rate(0.5) : tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN> -> tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>
  return
}

// -----

func.func @f(%q: tensor<1x2x8x32xf8E4M3FN>, %k: tensor<1x2x8x32xf8E4M3FN>, %o: tensor<1x2x8x32xbf16>, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x32xf8E4M3FN>, %s: tensor<1xf32>, %t: tensor<2xf32>) {
  // expected-error@+1 {{expected, with inputs of 'f8E4M3FN', no sink}}
  %g:4 = attn.attention_backward %q, %k, %k output(%o : tensor<1x2x8x32xbf16>) lse(%lse : tensor<1x2x8xf32>) d_output(%do : tensor<1x2x8x32xf8E4M3FN>) sink(%t : tensor<2xf32>) : tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN> -> tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16> d_sink(tensor<2xf32>)
  return
}

// -----

func.func @f(%q: tensor<1x2x8x32xf8E4M3FN>, %k: tensor<1x2x8x32xf8E4M3FN>, %o: tensor<1x2x8x32xbf16>, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x32xf8E4M3FN>, %s: tensor<1xf32>) {
  // expected-error@+1 {{expected normalization #attn.softmax with inputs of 'f8E4M3FN', got #attn.none}}
  %g:3 = attn.attention_backward %q, %k, %k d_output(%do : tensor<1x2x8x32xf8E4M3FN>) normalization(#attn.none) : tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN>, tensor<1x2x8x32xf8E4M3FN> -> tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>, tensor<1x2x8x32xbf16>
  return
}

// -----

func.func @f(%q: tensor<1x2x8x32xf32>, %k: tensor<1x2x8x32xf32>, %o: tensor<1x2x8x32xbf16>, %lse: tensor<1x2x8xf32>, %do: tensor<1x2x8x32xf32>, %s: tensor<1xf32>) {
  // expected-error@+1 {{expected neither d_lse nor sink nor amax_ds with normalization #attn.none}}
  %g:4 = attn.attention_backward %q, %k, %k d_output(%do : tensor<1x2x8x32xf32>) normalization(#attn.none) : tensor<1x2x8x32xf32>, tensor<1x2x8x32xf32>, tensor<1x2x8x32xf32> -> tensor<1x2x8x32xf32>, tensor<1x2x8x32xf32>, tensor<1x2x8x32xf32> amax_ds(tensor<1x2x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<1x1x8x32xf8E4M3FN>, %lse: tensor<1x1x8xf32>, %d: tensor<1xf32>, %dq: tensor<1x1x8x32xf32>, %c0: index) {
  // expected-error@+1 {{expected descales of query, key, value and d_output, got 1}}
  %g = attn.backward_step %q, %q, %q d_output(%q) lse(%lse) delta(%lse) descale(%d : tensor<1xf32>) offsets(%c0, %c0, %c0, %c0)
      d_query(%dq : tensor<1x1x8x32xf32>)
      : tensor<1x1x8x32xf8E4M3FN>, tensor<1x1x8x32xf8E4M3FN>, tensor<1x1x8x32xf8E4M3FN>, tensor<1x1x8x32xf8E4M3FN>, tensor<1x1x8xf32>
  return
}

// -----

func.func @f(%q: tensor<1x1x8x32xf32>, %lse: tensor<1x1x8xf32>, %dv: tensor<1x1x8x32xf32>, %c0: index) {
  // expected-error@+1 {{expected amax beside d_query}}
  %g:2 = attn.backward_step %q, %q, %q d_output(%q) lse(%lse) delta(%lse) offsets(%c0, %c0, %c0, %c0)
      d_value(%dv : tensor<1x1x8x32xf32>) amax(%lse : tensor<1x1x8xf32>)
      : tensor<1x1x8x32xf32>, tensor<1x1x8x32xf32>, tensor<1x1x8x32xf32>, tensor<1x1x8x32xf32>, tensor<1x1x8xf32>
  return
}

// -----

func.func @f(%o: tensor<1x1x8x32xf32>, %d: tensor<2xf32>) {
  // expected-error@+1 {{expected descale to be [1] or [B, Hkv], got a vector of 2}}
  %g = attn.backward_delta %o, %o descale(%d : tensor<2xf32>) : tensor<1x1x8x32xf32>, tensor<1x1x8x32xf32> -> tensor<1x1x8xf32>
  return
}
