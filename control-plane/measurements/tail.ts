import type { Sql } from "#control-plane/database/connect.ts";
import { isFinal } from "#control-plane/jobs/durable-run/status.ts";
import { readEvents } from "#control-plane/measurements/stream/store.ts";
import { readEvent } from "#control-plane/measurements/view.ts";
import type { Watch } from "#control-plane/measurements/watch.ts";

/** An event of a measurement, numbered from 1 in the order in which all streams of it tell them. */
export interface NumberedEvent {
  readonly number: number;
  readonly event: string;
  readonly data: unknown;
}

/**
 * The events after number `after`, those to come included, whichever replica writes them; ends when the measurement has
 * ended, or is gone, or `signal` is aborted. Rejects where the database does not answer: the client comes again.
 */
export async function* tailEvents(
  { sql, watch }: { readonly sql: Sql; readonly watch: Watch },
  id: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<NumberedEvent> {
  let last = after;
  // What was known before rows were read decides whether more can come.
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
        yield { number: stored.number, event: stored.event, data: readEvent(stored) };
        last = stored.number;
      }
      // A page is not always full where more follows.
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
