import { expect, it } from "vitest";
import { traceFindings, type TraceFacts } from "#probe-agent/tools/ping/trace-findings.ts";

const MTU = { bytes: 1400, limited_by: null, black_hole: false, method: "search" } as const;
const REFUSAL = { hop: 4, ip: "192.0.2.1", icmp_type: 3, icmp_code: 13, reason: "admin_prohibited" };

it.each<[string, TraceFacts, string[]]>([
  ["a route that ends at the target has none", { unreachable: null, path_mtu: MTU }, []],
  ["nor has one whose MTU was not measured", { unreachable: null, path_mtu: null }, []],
  ["a router that refuses", { unreachable: REFUSAL, path_mtu: null }, ["critical route-refused hop 4"]],
  [
    "large packets that vanish",
    { unreachable: null, path_mtu: { ...MTU, black_hole: true } },
    ["critical mtu-black-hole path_mtu"],
  ],
])("the findings of a trace: %s", (_what, facts, expected) => {
  const found = traceFindings(facts);
  expect(found.map(({ severity, id, where }) => `${severity} ${id} ${where}`)).toEqual(expected);
  for (const { how } of found) expect((how ?? "").length).toBeGreaterThan(20);
});
