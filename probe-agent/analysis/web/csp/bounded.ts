import type { CspAnalysis, CspPolicyReport } from "#probe-agent/analysis/csp.ts";
import type { EffectivePolicy } from "#probe-agent/analysis/web/csp/effective.ts";
import { fairShares, jsonBytes, leading, leadingText } from "#probe-agent/analysis/text/json-size.ts";

/** The parts of an analysis whose size depends on the site, truncated to fit a result. */
interface BoundedCsp {
  readonly policies: CspPolicyReport[];
  readonly effective: EffectivePolicy;
  readonly bypassHosts: string[];
  /** Whether something was left out. */
  readonly cut: boolean;
}

/** Maximum size of each part, in octets of JSON. Together they are well below a result's 256 KB. */
const POLICIES_BYTES = 120_000;
const EFFECTIVE_BYTES = 40_000;
const HOSTS_BYTES = 5000;

/** Truncates the parts of an analysis whose size depends on the site. */
export function boundCsp(analysis: CspAnalysis): BoundedCsp {
  const shares = fairShares(analysis.policies.map(jsonBytes), POLICIES_BYTES);
  const policies = analysis.policies.map((policy, index) => boundPolicy(policy, shares[index] ?? 0));
  const effective = boundEffective(analysis.effective);
  const bypassHosts = leading(analysis.bypass_hosts, HOSTS_BYTES);
  const cut =
    bypassHosts.length < analysis.bypass_hosts.length ||
    jsonBytes(policies) < jsonBytes(analysis.policies) ||
    jsonBytes(effective) < jsonBytes(analysis.effective);
  return { policies, effective, bypassHosts, cut };
}

function boundPolicy(policy: CspPolicyReport, maxBytes: number): CspPolicyReport {
  if (jsonBytes(policy) <= maxBytes) return policy;
  const half = Math.floor(maxBytes / 2);
  const named = leading(Object.entries(policy.directives), half);
  // A single directive can be larger than the whole limit.
  const rest = Object.entries(policy.directives)[named.length];
  const left = half - jsonBytes(named);
  const partly =
    rest === undefined || left < 1000 ? [] : [[rest[0].slice(0, 200), leading(rest[1], left - 700)] as const];
  return { ...policy, raw: leadingText(policy.raw, half), directives: Object.fromEntries([...named, ...partly]) };
}

function boundEffective(effective: EffectivePolicy): EffectivePolicy {
  const lists = Object.entries(effective).filter((entry): entry is [string, readonly string[]] =>
    Array.isArray(entry[1]),
  );
  const shares = fairShares(
    lists.map(([, values]) => jsonBytes(values)),
    EFFECTIVE_BYTES,
  );
  const cut = Object.fromEntries(lists.map(([name, values], index) => [name, leading(values, shares[index] ?? 0)]));
  return { ...effective, ...cut };
}
