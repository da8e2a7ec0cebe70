import type { Sql } from "#control-plane/core/database/connect.ts";
import { isFinal } from "#control-plane/checks/jobs/durable-run/status.ts";
import { readEvents } from "#control-plane/checks/measurements/stream/store.ts";
import { parseStoredEvent } from "#control-plane/checks/measurements/view.ts";
import type { Watch } from "#control-plane/checks/measurements/watch.ts";

/** An event of a measurement. Numbers begin at 1 and are the same in every stream of the measurement. */
export interface NumberedEvent {
  readonly number: number;
  readonly event: string;
  readonly data: unknown;
}

/**
 * Yields stored and future events with a number above `after`, whichever replica writes them. Ends when the measurement
 * has ended or is deleted, or when `signal` is aborted. Rejects if the database does not answer; the client reconnects.
 */
export async function* tailEvents(
  { sql, watch }: { readonly sql: Sql; readonly watch: Watch },
  id: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<NumberedEvent> {
  let last = after;
  // The state that was known before the rows were read decides whether more events can follow.
  let known = { events: last, final: false };
  let wake = Promise.withResolvers<null>();
  const unwatch = watch.watch(id, (state) => {
    known = state === null ? { events: last, final: true } : { events: state.events, final: isFinal(state.status) };
    if (known.final || known.events > last) wake.resolve(null);
  });
  const stop = () => wake.resolve(null);
  signal.addEventListener("abort", stop);
  try {
    while (!signal.aborted) {
      const { final } = known;
      const page = await readEvents(sql, id, last);
      for (const stored of page) {
        yield { number: stored.number, event: stored.event, data: parseStoredEvent(stored) };
        last = stored.number;
      }
      // Events can follow even a page that is not full.
      if (page.length > 0 && (final || last < known.events)) continue;
      if (final) return;
      if (!known.final && known.events <= last && !signal.aborted) await wake.promise;
      wake = Promise.withResolvers();
    }
  } finally {
    unwatch();
    signal.removeEventListener("abort", stop);
  }
}
