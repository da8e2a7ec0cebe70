import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";

/** Quick looks at first, because most conditions hold at once. */
const QUICK = { looks: 100, pauseMs: 10 };
/** Two minutes on a quiet machine. On a busy one the looks take longer, so that the wait does too. */
const SLOW = { looks: 1_200, pauseMs: 100 };
const SHOWN = 2_000;

/**
 * Waits until `look` returns something other than false, null or undefined, and returns it. A look that throws has not
 * seen it yet. It counts looks instead of reading a clock: a machine that is busy or
 * stopped for a while does not end the wait. Rejects with what was awaited and what the last look saw. To wait for a
 * value rather than a condition, use expect.poll, whose failure shows the difference.
 */
export async function until<Seen>(
  look: () => Seen | Promise<Seen>,
  what: string,
): Promise<Exclude<Seen, false | null | undefined>> {
  let last: unknown;
  for (let looks = 0; looks < QUICK.looks + SLOW.looks; looks += 1) {
    try {
      const seen = await look();
      if (seen !== false && seen !== null && seen !== undefined) return seen as never;
      last = seen;
    } catch (error) {
      last = error;
    }
    await sleep(looks < QUICK.looks ? QUICK.pauseMs : SLOW.pauseMs);
  }
  const seen = last instanceof Error ? last.message : inspect(last, { depth: 4 });
  throw new Error(
    `not seen in ${QUICK.looks + SLOW.looks} looks: ${what}. The last look saw: ${seen.slice(0, SHOWN)}`,
    { cause: last },
  );
}
