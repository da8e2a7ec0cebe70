import { algorithmName } from "#probe-agent/analysis/dns/dnssec/algorithms.ts";
import { validateAnswer, type AnswerVerdict } from "#probe-agent/analysis/dns/dnssec/answer.ts";
import {
  startSession,
  type Asking,
  type Question,
  type Reply,
  type Session,
  type Status,
  type ZoneReport,
} from "#probe-agent/analysis/dns/dnssec/session.ts";
import { isoTime } from "#probe-agent/analysis/dns/dnssec/signatures.ts";
import type { TrustAnchor } from "#probe-agent/port/dns.ts";

/** One question with the answer to be validated. */
export interface Asked extends Question {
  readonly reply: Reply;
}

/** What our own validation found (RFC 4033 to 4035, 5155, 6840, 9276). */
export interface Verdict {
  readonly status: Status;
  readonly denial: "nsec" | "nsec3" | null;
  /** What led to the status, then warnings; one sentence each. */
  readonly reasons: readonly string[];
  /** From the trust anchor down, in the order visited. */
  readonly chain: readonly ZoneReport[];
  /** Mnemonics of the algorithms whose signatures the verdict rests on. */
  readonly algorithms: readonly string[];
  /** When the first signature the verdict rests on ends, ISO 8601 UTC; null where it rests on none. */
  readonly expires_at: string | null;
  /** The verdict on each question, in the order asked. */
  readonly answers: readonly (AnswerVerdict & { readonly type: string })[];
}

const MAX_REASONS = 12;

/**
 * Validates answers to questions about one name; yields the DS and DNSKEY questions it needs answered, each at most
 * once for a name where the caller remembers. Pure: records, anchors and time are handed in.
 */
export function* validate(asked: readonly Asked[], anchors: readonly TrustAnchor[], now: Date): Asking<Verdict> {
  const session = startSession(anchors, now);
  const answers: Verdict["answers"][number][] = [];
  for (const question of asked) {
    answers.push({ type: question.type, ...(yield* validateAnswer(session, question, question.reply)) });
  }
  return conclude(session, answers);
}

/**
 * The same for records that are all at hand: `lookup` gives the answer to a DS or DNSKEY question, null where there is
 * none (then the verdict is indeterminate).
 */
export function validateRecords(
  asked: readonly Asked[],
  lookup: (question: Question) => Reply | null,
  anchors: readonly TrustAnchor[],
  now: Date,
): Verdict {
  const run = validate(asked, anchors, now);
  let next = run.next();
  while (next.done !== true)
    next = run.next(lookup(next.value) ?? { status: "not looked up", answers: [], authority: [] });
  return next.value;
}

function conclude(session: Session, answers: Verdict["answers"]): Verdict {
  const used = [...session.used.values()];
  const ends = used.map(({ signature }) => (signature.expiration - session.now) | 0);
  return {
    status: weakest(answers.map(({ status }) => status)),
    denial: answers.find(({ denial }) => denial !== null)?.denial ?? null,
    reasons: [...sentences(answers), ...session.warnings].slice(0, MAX_REASONS),
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

/** "A, MX: Signed by example.com", the weakest first. */
function sentences(answers: Verdict["answers"]): string[] {
  const order: readonly Status[] = ["bogus", "indeterminate", "insecure", "secure"];
  const types = new Map<string, string[]>();
  for (const { reasons, type } of answers.toSorted(
    (one, other) => order.indexOf(one.status) - order.indexOf(other.status),
  )) {
    for (const reason of reasons) types.set(reason, [...(types.get(reason) ?? []), type]);
  }
  return [...types].map(([reason, all]) => `${all.join(", ")}: ${reason}`);
}
