import { adviseOn, finding, type AdviceTable, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { sortFindings, type Finding } from "#shared/contracts/findings.ts";
import type { TraceResult } from "#shared/tools/ping/trace-result.ts";
import { createHash } from "node:crypto";
import { unreachableReason } from "#probe-agent/analysis/network/icmp-unreachable.ts";
import type { LossEvidence } from "#probe-agent/port/packets.ts";

/** Fields of a trace that findings use. */
export type TraceFacts = Pick<TraceResult, "unreachable" | "path_mtu">;

/** Severity and advice for each kind of finding. */
const TRACE_ADVICE = {
  "route-refused": {
    severity: "critical",
    how: "Check the route and the firewall rules on this router, or contact the network that operates it.",
    reference: "https://www.rfc-editor.org/rfc/rfc1812#section-5.2.7.1",
  },
  "mtu-black-hole": {
    severity: "critical",
    how: "Allow ICMP 'fragmentation needed' and 'packet too big' through the firewalls, or clamp the TCP MSS.",
    reference: "https://www.rfc-editor.org/rfc/rfc8899",
  },
} as const satisfies AdviceTable<string>;

type Draft = FindingDraft<keyof typeof TRACE_ADVICE>;

/** Returns findings for a router that refuses to forward packets and for large packets that are lost, worst first. */
export function traceFindings({ unreachable, path_mtu: mtu }: TraceFacts): Finding[] {
  const found: Draft[] = [];
  if (unreachable !== null) {
    const { hop, ip, reason } = unreachable;
    found.push(
      finding(
        "route-refused",
        `hop ${hop}`,
        `${ip} at hop ${hop} refuses to forward packets to the target: ${reason.replaceAll("_", " ")}.`,
      ),
    );
  }
  if (mtu?.black_hole === true) {
    const size = mtu.bytes === null ? "" : ` Packets of up to ${mtu.bytes} bytes pass.`;
    found.push(
      finding(
        "mtu-black-hole",
        "path_mtu",
        `Large packets are lost on the path and no router reports it, so transfers can hang.${size}`,
      ),
    );
  }
  return sortFindings(adviseOn(TRACE_ADVICE, found, null));
}

/** Replies of one hop. `ip` is null for a probe without a reply. */
export interface PathHop {
  readonly replies: readonly { readonly ip: string | null }[];
}

/** A hop with the evidence of its probes about packet loss. */
export interface ProbedHop extends PathHop {
  readonly evidence: LossEvidence;
}

/** Echo requests to a target that answers them. Routers do not limit these, so lost ones were lost on the path. */
export interface EchoEvidence {
  readonly sampled: number;
  readonly lost: number;
  /** Whether the target answered the trace with ICMP errors, which hosts limit as routers do. */
  readonly isTargetLimited: boolean;
}

const NO_ECHOES: EchoEvidence = { sampled: 0, lost: 0, isTargetLimited: false };

/**
 * Returns the loss on the way to each hop and back, in percent: 100 if the hop never answered, null if it cannot be
 * determined. Every probe to a later hop passes the earlier ones. The later hops therefore distinguish loss, which
 * continues at them, from a router's limit on its own answers. `reached` says that the last hop is the target.
 */
export function hopLoss(
  hops: readonly ProbedHop[],
  reached: boolean,
  echoes: EchoEvidence = NO_ECHOES,
): readonly (number | null)[] {
  const losses: (number | null)[] = [];
  const later = { sampled: echoes.sampled, lost: echoes.lost, isUncertain: false };
  const isDecisive = (index: number): boolean =>
    reached && index === hops.length - 1 && !(echoes.isTargetLimited && echoes.sampled > 0);
  for (const [index, { replies, evidence }] of [...hops.entries()].toReversed()) {
    if (replies.every(({ ip }) => ip === null)) {
      losses.push(100);
      continue;
    }
    const own = ownLoss(evidence);
    const loss = isDecisive(index) ? own : lossOnWay(own, evidence.sampled, later);
    losses.push(loss === null ? null : Math.round(loss * 100_000) / 1_000);
    // A hop that limits its answers shows nothing about the hops before it. If it may have lost some, they are
    // uncertain.
    if (loss === null && evidence.lost > 0) later.isUncertain = true;
    if (loss === null || loss !== own) continue;
    later.sampled += evidence.sampled;
    later.lost += evidence.lost;
  }
  return losses.toReversed();
}

interface LaterHops extends Pick<LossEvidence, "sampled" | "lost"> {
  readonly isUncertain: boolean;
}

function ownLoss({ sampled, lost, unclear }: LossEvidence): number | null {
  return sampled === 0 || unclear > 0 ? null : lost / sampled;
}

const DEVIATIONS = 2;
/** Probability below which an event is not explained by chance. */
const CHANCE = 0.05;
/** Minimum number of probes to later hops for each probe of the hop itself, for a comparison of both. */
const LATER_PROBES_FACTOR = 2;

function lossOnWay(own: number | null, sampled: number, later: LaterHops): number | null {
  if (own === 0) return 0;
  if (later.lost === 0 && later.isUncertain) return null;
  if (own === null) return later.lost === 0 && later.sampled >= MIN_LATER_PROBES ? 0 : null;
  if (later.lost === 0) {
    // If the path lost these probes, later hops would very likely have lost some too.
    const isLimit = later.sampled >= LATER_PROBES_FACTOR * sampled && (1 - own) ** later.sampled < CHANCE;
    return isLimit ? 0 : null;
  }
  const share = later.lost / later.sampled;
  const deviation = Math.sqrt((share * (1 - share)) / sampled);
  return own > share + DEVIATIONS * deviation ? share : own;
}

/** Minimum number of probes to later hops, all answered, that show that the hop has no loss worth a figure. */
const MIN_LATER_PROBES = 6;

/** A hop with the ICMP types and codes of its replies. */
interface AnsweredHop {
  readonly hop: number;
  readonly replies: readonly {
    readonly ip: string | null;
    readonly icmpType: number | null;
    readonly icmpCode: number | null;
  }[];
}

/** Router that refused to forward packets, and the reason. */
interface Refusal {
  readonly hop: number;
  readonly ip: string;
  readonly icmp_type: number;
  readonly icmp_code: number;
  readonly reason: string;
}

/** Finds the router that refused to forward packets to the target. Returns null if no router reported this. */
export function findRefusal(version: 4 | 6, hops: readonly AnsweredHop[]): Refusal | null {
  const last = hops.at(-1);
  for (const { ip, icmpType, icmpCode } of last?.replies ?? []) {
    if (last === undefined || ip === null || icmpType === null || icmpCode === null) continue;
    const reason = unreachableReason(version, icmpType, icmpCode);
    if (reason !== null) return { hop: last.hop, ip, icmp_type: icmpType, icmp_code: icmpCode, reason };
  }
  return null;
}

/**
 * Returns a short name of the route: the first 16 hex digits of the SHA-256 of its hops. Each hop is one line with its
 * distinct addresses, sorted as text and joined by commas, or * if it did not answer.
 */
export function pathHash(hops: readonly PathHop[]): string {
  const lines = hops.map(({ replies }) => {
    const addresses = new Set(replies.flatMap(({ ip }) => ip ?? []));
    return addresses.size === 0 ? "*" : [...addresses].toSorted().join(",");
  });
  return createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 16);
}
