//===- Trace.cpp - Chrome trace-event output ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// "Trace Event Format" (Google, 2016): complete events ("X") and names of
/// processes and threads ("M").
///
//===----------------------------------------------------------------------===//

#include "attn/Simulator/Trace.h"
#include "Error.h"

#include <set>

using namespace attn::sim;

static std::string trackName(uint32_t track) {
  if (track == copyTrack)
    return "copies (TMA, cp.async)";
  if (track == tensorTrack)
    return "tensor cores";
  return format("warp %u", track);
}

std::string Timeline::chromeJson() const {
  std::string out = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  std::set<std::pair<uint32_t, uint32_t>> tracks;
  for (const TraceEvent &event : events)
    tracks.insert({event.cta, event.track});
  uint32_t lastCta = ~0u;
  for (auto [cta, track] : tracks) {
    if (cta != lastCta)
      out += format("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %u, "
                    "\"args\": {\"name\": \"CTA %u\"}},\n",
                    cta, cta);
    lastCta = cta;
    out += format("{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %u, "
                  "\"tid\": %u, \"args\": {\"name\": \"%s\"}},\n",
                  cta, track, trackName(track).c_str());
  }
  for (const TraceEvent &event : events)
    out += format("{\"ph\": \"X\", \"pid\": %u, \"tid\": %u, \"ts\": %llu, "
                  "\"dur\": %llu, \"name\": \"%s\", \"cat\": \"%s\", "
                  "\"args\": {\"line\": %u}},\n",
                  event.cta, event.track, (unsigned long long)event.begin,
                  (unsigned long long)(event.end - event.begin), event.name,
                  event.category, event.line);
  // The format allows the list to end with an object that says nothing.
  out += format("{\"ph\": \"M\", \"name\": \"cycles\", \"pid\": 0, \"args\": "
                "{\"cycles\": %llu}}\n]}\n",
                (unsigned long long)cycles);
  return out;
}
