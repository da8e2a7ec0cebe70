import type { Clock } from "#shared/time/clock.ts";
import { toLocationAnswer } from "#shared/tools/present-locations.ts";
import { present } from "#shared/tools/present.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { CheckEvent, LocationRow } from "#control-plane/checks/answer.ts";
import { renderAround } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** The results of a running check, in the order in which they come. */
export interface Arrivals {
  /** Resolves with null when the check runs at several locations; never if it does not. */
  readonly several: Promise<null>;
  onEvent(event: CheckEvent, planned: string): void;
  /** Ends the rows: no more events follow. */
  end(): void;
  /** Yields the rows that have come and those that come, until the end. */
  rows(): AsyncGenerator<LocationRow>;
}

/** Collects the results of a check that runs. */
export function collectArrivals(): Arrivals {
  const begun = new Set<string>();
  const several = Promise.withResolvers<null>();
  const waiting: LocationRow[] = [];
  let isEnded = false;
  let wake = Promise.withResolvers<void>();
  return {
    several: several.promise,
    onEvent({ event, data }, planned) {
      begun.add(planned);
      if (begun.size > 1) several.resolve(null);
      if (event !== "result") return;
      waiting.push(data);
      wake.resolve();
    },
    end() {
      isEnded = true;
      wake.resolve();
    },
    async *rows() {
      for (;;) {
        wake = Promise.withResolvers();
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else if (isEnded) return;
        else await wake.promise;
      }
    },
  };
}

/** Renders the line of each location as it comes, as a list; the result of all is rendered below it, by the caller. */
export async function* renderArrivals(contract: Contract, arrivals: Arrivals, clock: Clock): AsyncGenerator<string> {
  const [before, after] = renderAround(
    (rows) => html`
      <p class="faint">Results by location, as they come. Below them is the result of all, when the last one is here.</p>
      <ul class="arrivals" aria-label="Results by location" aria-live="polite">${rows}</ul>`,
  );
  yield before;
  for await (const row of arrivals.rows()) yield String(renderRow(contract, row, clock.now()));
  yield after;
}

function renderRow(contract: Contract, row: LocationRow, now: Date): Html {
  const { place, answer } = toLocationAnswer(row);
  if (!answer.ok)
    return html`<li>${place}: <span class="${answer.isTarget ? "bad" : "warn"}">${answer.message}</span></li>`;
  const { verdict, headline } = present(contract, answer.data, now);
  if (verdict === "neutral") return html`<li>${place}: <span class="neutral">${headline}</span></li>`;
  return html`<li>${place}: <span class="verdict ${verdict}">${verdict}</span> <span>${headline}</span></li>`;
}
