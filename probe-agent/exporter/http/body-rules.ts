import { createPool } from "#probe-agent/threads/pool.ts";
import { startThread } from "#probe-agent/threads/thread.ts";
import type { HttpOptions } from "#shared/blackbox/module.ts";
import type { BodyThreads, BodyVerdict, Probe } from "#probe-agent/exporter/probe.ts";

/** A body and the sources of the expressions that it must not match, and must match. */
export interface BodyOrder {
  readonly body: Uint8Array;
  readonly forbidden: readonly string[];
  readonly wanted: readonly string[];
}

/** Maximum octets of a body that are matched in the process itself: a few milliseconds at worst. */
const SMALL_BODY = 16_384;
/** Maximum octets of a body that are matched at all. */
export const MOST_MATCHED = 16 * 1024 * 1024;
/** Enough for a body of MOST_MATCHED as text, and the states of its expressions. */
const HEAP_MB = 256;

/** Creates the threads. None is started before there is work. */
export function createBodyThreads(clock: { monotonic(): number }): BodyThreads {
  return createPool({
    clock,
    start: () =>
      startThread<string, BodyVerdict>({ entry: new URL("body-thread.ts", import.meta.url), heapMb: HEAP_MB }),
  });
}

/** Reports whether a body satisfies all expressions. A small one is matched at once, a large one in a thread. */
export async function checkBody(
  body: Buffer,
  { fail_if_body_matches_regexp: forbidden, fail_if_body_not_matches_regexp: wanted }: HttpOptions,
  { log, signal, deadline }: Probe,
  threads: BodyThreads,
): Promise<boolean> {
  let verdict: BodyVerdict;
  if (body.length <= SMALL_BODY) verdict = matchBody(body.toString("utf8"), forbidden, wanted);
  else {
    const order: BodyOrder = {
      body,
      forbidden: forbidden.map(({ source }) => source),
      wanted: wanted.map(({ source }) => source),
    };
    const ended = await threads.use({ until: deadline, signal }, (borrow) =>
      borrow((thread) => thread.run({ order, check: () => (signal.aborted ? ("late" as const) : null) })),
    );
    if (ended === null || typeof ended === "string" || ended.kind !== "answered") {
      log("error", "Body was not matched in time", { octets: body.length });
      return false;
    }
    verdict = ended.answer;
  }
  if (verdict === null) return true;
  const message = verdict.matched ? "Body matched regular expression" : "Body did not match regular expression";
  log("error", message, { regexp: verdict.regexp });
  return false;
}

/** An expression as far as matching needs it. */
interface Matcher {
  readonly source: string;
  matches(text: string): boolean;
}

/** Returns the first expression that a text breaks: the forbidden ones first. */
export function matchBody(text: string, forbidden: readonly Matcher[], wanted: readonly Matcher[]): BodyVerdict {
  for (const one of forbidden) if (one.matches(text)) return { regexp: one.source, matched: true };
  for (const one of wanted) if (!one.matches(text)) return { regexp: one.source, matched: false };
  return null;
}
