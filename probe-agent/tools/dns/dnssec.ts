import { algorithmName } from "#probe-agent/tools/dns/dnssec/algorithms.ts";
import { validateAnswer, type AnswerVerdict } from "#probe-agent/tools/dns/dnssec/answer.ts";
import {
  startSession,
  type Asking,
  type Question,
  type Reply,
  type Session,
  type Status,
  type ZoneReport,
} from "#probe-agent/tools/dns/dnssec/session.ts";
import { isoTime } from "#probe-agent/tools/dns/dnssec/signatures.ts";
import type { TrustAnchor } from "#probe-agent/port/dns.ts";

/** A question together with the reply to validate. */
export interface AnsweredQuestion extends Question {
  readonly reply: Reply;
}

/** Result of our own DNSSEC validation (RFC 4033 to 4035, 5155, 6840, 9276). */
export interface Verdict {
  readonly status: Status;
  readonly denial: "nsec" | "nsec3" | null;
  /** Reasons for the status, then warnings. One sentence each, up to 12. */
  readonly reasons: readonly string[];
  /** Zones from the trust anchor down, in the order visited. */
  readonly chain: readonly ZoneReport[];
  /** Mnemonics of the algorithms of the signatures that the verdict relies on. */
  readonly algorithms: readonly string[];
  /**
   * Time at which the first signature that the verdict relies on expires, in ISO 8601 UTC. Null if it relies on none.
   */
  readonly expires_at: string | null;
  /** Verdict on each question, in the order asked. */
  readonly answers: readonly (AnswerVerdict & { readonly type: string })[];
}

const MAX_REASONS = 12;

/**
 * Validates the answers to questions about one name. Yields the DS and DNSKEY questions whose answers it needs. The
 * caller should cache the answers, because the same question can be yielded more than once. Pure: the caller passes
 * records, trust anchors and the time.
 */
export function* validate(
  asked: readonly AnsweredQuestion[],
  anchors: readonly TrustAnchor[],
  now: Date,
): Asking<Verdict> {
  const session = startSession(anchors, now);
  const answers: Verdict["answers"][number][] = [];
  for (const question of asked) {
    answers.push({ type: question.type, ...(yield* validateAnswer(session, question, question.reply)) });
  }
  return conclude(session, answers);
}

function conclude(session: Session, answers: Verdict["answers"]): Verdict {
  const used = [...session.used.values()];
  const ends = used.map(({ signature }) => (signature.expiration - session.now) | 0);
  return {
    status: weakest(answers.map(({ status }) => status)),
    denial: answers.find(({ denial }) => denial !== null)?.denial ?? null,
    reasons: [...groupReasons(answers), ...session.warnings].slice(0, MAX_REASONS),
    chain: [...session.reports.values()],
    algorithms: [...new Set(used.map(({ signature }) => algorithmName(signature.algorithm)))],
    expires_at: ends.length === 0 ? null : isoTime(session.now + Math.min(...ends), session.now),
    answers,
  };
}

function weakest(statuses: readonly Status[]): Status {
  const order: readonly Status[] = ["bogus", "indeterminate", "insecure", "secure"];
  return order.find((status) => statuses.includes(status)) ?? "indeterminate";
}

/** Returns sentences such as "A, MX: Signed by example.com", those of the weakest status first. */
function groupReasons(answers: Verdict["answers"]): string[] {
  const order: readonly Status[] = ["bogus", "indeterminate", "insecure", "secure"];
  const types = new Map<string, string[]>();
  for (const { reasons, type } of answers.toSorted(
    (one, other) => order.indexOf(one.status) - order.indexOf(other.status),
  )) {
    for (const reason of reasons) types.set(reason, [...(types.get(reason) ?? []), type]);
  }
  return [...types].map(([reason, all]) => `${all.join(", ")}: ${reason}`);
}
