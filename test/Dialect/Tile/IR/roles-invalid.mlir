// RUN: attn-opt %s --split-input-file --verify-diagnostics

attn_tile.kernel @twice() warps(4) attributes {producer_warps = 4 : i64} {
  // expected-error @below {{expected roles of different names, got 'mma' twice}}
  attn_tile.roles mma(24) {
  } mma {
  } consumer(240) {
  ^bb0(%g: index):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @many() warps(4) attributes {producer_warps = 2 : i64} {
  // expected-error @below {{expected at most 2 roles beside the consumer, got 3}}
  attn_tile.roles producer(24) {
  } mma {
  } epilogue {
  } consumer(240) {
  ^bb0(%g: index):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @with_all() warps(4) attributes {producer_warps = 4 : i64} {
  // expected-error @below {{expected at most 1 roles beside the consumer, got 2}}
  attn_tile.roles producer(24) all {
  } mma {
  } consumer(240) {
  ^bb0(%g: index):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @no_warps() warps(4) {
  // expected-error @below {{expected at most 1 roles beside the consumer, got 2}}
  attn_tile.roles producer(24) {
  } mma {
  } consumer(240) {
  ^bb0(%g: index):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @argument() warps(4) attributes {producer_warps = 4 : i64} {
  // expected-error @below {{expected the products to take no argument, got 1}}
  attn_tile.roles producer(24) {
  } products {
  ^bb0(%g: index):
  } consumer(240) {
  ^bb0(%g: index):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @none() warps(4) attributes {producer_warps = 4 : i64} {
  // expected-error @below {{expected a role beside the consumer, got none}}
  attn_tile.roles consumer(240) {
  ^bb0(%g: index):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @no_name() warps(4) attributes {producer_warps = 4 : i64} {
  // expected-error @below {{expected a name for each role beside the consumer, and at least one, got 1 for 2}}
  "attn_tile.roles"() <{names = ["producer"], producer_registers = 24 : i64, consumer_registers = 240 : i64}> ({
  ^bb0(%g: index):
  }, {
  ^bb0:
  }, {
  ^bb0:
  }) : () -> ()
  attn_tile.return
}

// -----

attn_tile.kernel @no_role() warps(4) attributes {producer_warps = 4 : i64} {
  // expected-error @below {{expected a name for each role beside the consumer, and at least one, got 0 for 0}}
  "attn_tile.roles"() <{names = [], producer_registers = 24 : i64, consumer_registers = 240 : i64}> ({
  ^bb0(%g: index):
  }) : () -> ()
  attn_tile.return
}

// -----

attn_tile.kernel @consumers() warps(4) attributes {producer_warps = 4 : i64} {
  // expected-error @below {{expected names of roles to be keywords other than 'consumer', got 'consumer'}}
  "attn_tile.roles"() <{names = ["consumer"], producer_registers = 24 : i64, consumer_registers = 240 : i64}> ({
  ^bb0(%g: index):
  }, {
  ^bb0:
  }) : () -> ()
  attn_tile.return
}

// -----

attn_tile.kernel @no_keyword() warps(4) attributes {producer_warps = 4 : i64} {
  // expected-error @below {{expected names of roles to be keywords other than 'consumer', got 'a b'}}
  "attn_tile.roles"() <{names = ["a b"], producer_registers = 24 : i64, consumer_registers = 240 : i64}> ({
  ^bb0(%g: index):
  }, {
  ^bb0:
  }) : () -> ()
  attn_tile.return
}

// -----

attn_tile.kernel @lanes(%n: index) warps(4) attributes {producer_warps = 4 : i64} {
  attn_tile.roles producer(24) {
  } products {
    // expected-error @below {{expected all lanes of a warp, got a role of one thread}}
    %m = attn_tile.uniform %n : index
  } consumer(240) {
  ^bb0(%g: index):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @meet() warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %k = attn_tile.alloc : !attn_tile.shared<128x64xf16, swizzle = 128>
  %s = attn_tile.alloc_tensors : !attn_tile.tensor<128x128xf32>
  attn_tile.roles producer(24) {
  } products {
    // expected-error @below {{expected meet or one_thread, got both}}
    attn_tile.mma_tensor %k, %k transpose_b into %s[%c0] meet one_thread
        : !attn_tile.shared<128x64xf16, swizzle = 128>, !attn_tile.shared<128x64xf16, swizzle = 128> into !attn_tile.tensor<128x128xf32>
  } consumer(240) {
  ^bb0(%g: index):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @commit_by_consumers() warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %empty = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<2, arrivals = 1>
  attn_tile.roles producer(24) {
  } consumer(240) {
  ^bb0(%g: index):
    // expected-error @below {{expected a role of one thread, whose products arrive}}
    attn_tile.commit_tensors %empty[%c0] : !attn_tile.mbarrier<2, arrivals = 1>
  }
  attn_tile.return
}

// -----

attn_tile.kernel @commit_by_all_threads() warps(4) attributes {producer_warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %empty = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<2, arrivals = 1>
  attn_tile.roles producer(24) all {
    // expected-error @below {{expected a role of one thread, whose products arrive}}
    attn_tile.commit_tensors %empty[%c0] : !attn_tile.mbarrier<2, arrivals = 1>
  } consumer(240) {
  ^bb0(%g: index):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @commit_without_roles() warps(4) {
  %c0 = arith.constant 0 : index
  %empty = attn_tile.alloc_mbarrier : !attn_tile.mbarrier<2, arrivals = 1>
  // expected-error @below {{expected a role of one thread, whose products arrive}}
  attn_tile.commit_tensors %empty[%c0] : !attn_tile.mbarrier<2, arrivals = 1>
  attn_tile.return
}

// -----

attn_tile.kernel @few_warps() warps(4) attributes {producer_warps = 4 : i64} {
  // expected-error @below {{expected a warpgroup behind the four warps of at least one other role, got 4 warps for 2 roles}}
  attn_tile.roles producer(32) {
  } correction warpgroup(96) {
  } consumer(192) {
  ^bb0(%g: index):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @warpgroup_alone() warps(4) attributes {producer_warps = 8 : i64} {
  // expected-error @below {{expected a warpgroup behind the four warps of at least one other role, got 8 warps for 1 roles}}
  attn_tile.roles correction(24) warpgroup(96) {
  } consumer(192) {
  ^bb0(%g: index):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @warpgroup_first() warps(4) attributes {producer_warps = 8 : i64} {
  attn_tile.roles producer(32) {
  } correction warpgroup(96) {
  // expected-error @below {{expected the consumer behind the role of a warpgroup, got 'mma'}}
  } mma {
  } consumer(192) {
  ^bb0(%g: index):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @registers_of_warpgroup() warps(4) attributes {producer_warps = 8 : i64} {
  // expected-error @below {{expected registers to be a multiple of 8 from 24 to 256, got 90}}
  attn_tile.roles producer(32) {
  } correction warpgroup(90) {
  } consumer(192) {
  ^bb0(%g: index):
  }
  attn_tile.return
}

// -----

// One thread cannot meet the others of a warpgroup.
attn_tile.kernel @one_meets(%map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4) attributes {producer_warps = 8 : i64} {
  %c0 = arith.constant 0 : index
  %o = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.roles producer(32) {
    // expected-error @below {{expected one_thread in a role of one thread}}
    attn_tile.store_tma %o[%c0] to %map[%c0, %c0, %c0] async : !attn_tile.shared<64x64xf16, swizzle = 128> to !attn_tile.tensor_map<64x64xf16, swizzle = 128>
  } consumer(192) {
  ^bb0(%g: index):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @all_copy(%map: !attn_tile.tensor_map<64x64xf16, swizzle = 128>) warps(4) attributes {producer_warps = 8 : i64} {
  %c0 = arith.constant 0 : index
  %o = attn_tile.alloc : !attn_tile.shared<64x64xf16, swizzle = 128>
  attn_tile.roles producer(32) {
  } correction warpgroup(96) {
    // expected-error @below {{expected a role of one thread for one_thread}}
    attn_tile.store_tma %o[%c0] to %map[%c0, %c0, %c0] one_thread : !attn_tile.shared<64x64xf16, swizzle = 128> to !attn_tile.tensor_map<64x64xf16, swizzle = 128>
  } consumer(192) {
  ^bb0(%g: index):
  }
  attn_tile.return
}

// -----

attn_tile.kernel @place_of_consumers() warps(4) attributes {producer_warps = 8 : i64} {
  %c0 = arith.constant 0 : index
  attn_tile.roles producer(32) {
  } correction warpgroup(96) {
  } consumer(192) {
  ^bb0(%g: index):
    // expected-error @below {{expected to be in the role of a warpgroup}}
    attn_tile.as_warpgroup %c0 {
    }
  }
  attn_tile.return
}

// -----

attn_tile.kernel @shared_rows(%r: index) warps(8) {
  %v = attn_tile.alloc : !attn_tile.shared<1x128xf32, swizzle = 128>
  // expected-error @below {{expected f32 rows and a vector of as many, got '!attn_tile.fragment<256xf32, row>' and '!attn_tile.shared<1x128xf32, swizzle = 128>'}}
  %rows = attn_tile.load_shared_rows %v : !attn_tile.shared<1x128xf32, swizzle = 128> -> !attn_tile.fragment<256xf32, row>
  attn_tile.return
}

// -----

attn_tile.kernel @shared_columns() warps(4) {
  %v = attn_tile.alloc : !attn_tile.shared<1x64xf32, swizzle = 128>
  %c = attn_tile.fill 0.0 : !attn_tile.fragment<64xf32, column>
  // expected-error @below {{expected f32 rows and a vector of as many, got '!attn_tile.fragment<64xf32, column>'}}
  attn_tile.store_shared_rows %c to %v : !attn_tile.fragment<64xf32, column> to !attn_tile.shared<1x64xf32, swizzle = 128>
  attn_tile.return
}
