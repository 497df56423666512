// An arrival in another CTA publishes nothing: .release.cluster would be MEMBAR.ALL.GPU in SASS, for each tile of keys.
// RUN: attn-opt %s --target=sm_90a --schedule='cluster_m=2 tile_m=128 tile_n=128' --emit=ptx -o - | FileCheck %s
// CHECK-NOT: mbarrier.arrive.release.cluster
// CHECK: mbarrier.arrive.shared::cluster.b64 _, [peer];
// CHECK-NOT: mbarrier.arrive.release.cluster
func.func @full(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16> {
  %o = attn.attention %q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16> -> tensor<?x?x?x128xbf16>
  return %o : tensor<?x?x?x128xbf16>
}
