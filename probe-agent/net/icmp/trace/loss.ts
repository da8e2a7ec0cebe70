import type { AnswerLedger } from "#probe-agent/net/icmp/answer-ledger.ts";
import type { Probe } from "#probe-agent/net/icmp/trace/probe.ts";
import type { LossEvidence, TraceReply } from "#probe-agent/port/packets.ts";

/**
 * State of a hop's trials. Trials are probes sent apart from the others, to distinguish loss from a limit on answers.
 */
export interface Trials {
  readonly sent: number;
  /** Trials that were answered, or were silent without a limit of one answer per second that could explain it. */
  readonly valid: readonly Probe[];
  /** Trials without an answer that do not count as silent so far. */
  readonly open: number;
}

/** Returns the addresses that answered, each once. */
export function addressesOf(probes: readonly Probe[]): readonly string[] {
  return [...new Set(probes.flatMap(({ reply }) => reply?.ip ?? []))];
}

/** Reports whether a hop may limit its answers. ICMP errors are limited; echo replies and TCP segments are not. */
export function isLimited(probes: readonly Probe[]): boolean {
  return probes.some(({ reply }) => reply !== null && !isUnlimited(reply));
}

/**
 * Reports whether a reply is of an unlimited kind: an echo reply (RFC 792 type 0, RFC 4443 type 129), or a TCP segment,
 * which has no type.
 */
function isUnlimited({ icmpType }: TraceReply): boolean {
  return icmpType === null || icmpType === 0 || icmpType === 129;
}

/** Returns the trials among the probes of one hop. A probe counts as silent `silentAfterMs` after it left. */
export function trialsOf(probes: readonly Probe[], ledger: AnswerLedger, now: number, silentAfterMs: number): Trials {
  const ips = addressesOf(probes);
  const trials = probes.filter(({ isTrial }) => isTrial);
  const isOpen = ({ reply, at }: Probe): boolean => reply === null && now < at + silentAfterMs;
  const mayBeLimit = isLimited(probes);
  return {
    sent: trials.length,
    open: trials.filter(isOpen).length,
    valid: trials.filter((trial) => !isOpen(trial) && !(mayBeLimit && ledger.isTaken(ips, trial.at))),
  };
}

/**
 * Returns the evidence of loss at one hop. If no probe is silent, all probes count. All count too if the hop does not
 * limit its answers. Otherwise only the trials count: another probe may have met the limit, and its answers would be
 * counted without its losses. `enough` valid trials decide.
 */
export function evidenceOf(
  probes: readonly Probe[],
  trials: Trials,
  bounds: { readonly now: number; readonly silentAfterMs: number; readonly enough: number },
): LossEvidence {
  const { now, silentAfterMs, enough } = bounds;
  const silent = probes.filter(({ reply, at }) => reply === null && now >= at + silentAfterMs).length;
  const answered = probes.filter(({ reply }) => reply !== null).length;
  if (trials.sent === 0 && silent === 0) return { sampled: answered, lost: 0, unclear: 0 };
  if (!isLimited(probes)) return { sampled: answered + silent, lost: silent, unclear: 0 };
  const lost = trials.valid.filter(({ reply }) => reply === null).length;
  // If all trials are lost, the answer that revealed the hop counts: a hop that answered did not lose everything.
  const sampled = trials.valid.length + (lost > 0 && lost === trials.valid.length ? 1 : 0);
  return { sampled, lost, unclear: trials.valid.length < enough ? silent - lost : 0 };
}
