import type { Clock } from "#shared/time/clock.ts";
import { toLocationAnswer } from "#shared/presentation/locations.ts";
import { present } from "#shared/presentation/present.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { CheckEvent, LocationRow } from "#control-plane/checks/answer.ts";
import { TOOLS } from "#control-plane/surfaces/dashboard/strings/tools.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

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

const renderRow: (row: {
  readonly place: string;
  readonly verdict: string;
  readonly tone: string;
  readonly text: string;
}) => string = compileTemplate(
  `<li><%= it.place %>: <% if (it.verdict !== "") { %><span class="verdict <%= it.tone %>"><%= it.verdict %></span> <% } %><span class="<%= it.verdict === "" ? it.tone : "" %>"><%= it.text %></span></li>`,
);

/** Renders the line of each location as it comes, as a list; the result of all is rendered below it, by the caller. */
export async function* renderArrivals(contract: Contract, arrivals: Arrivals, clock: Clock): AsyncGenerator<string> {
  yield `<p class="faint">${TOOLS.arriving}</p><ul class="arrivals" aria-label="${TOOLS.arrived}" aria-live="polite">`;
  for await (const row of arrivals.rows()) {
    const { place, answer } = toLocationAnswer(row);
    if (answer.ok) {
      const { verdict, headline } = present(contract, answer.data, clock.now());
      yield renderRow({ place, verdict: verdict === "neutral" ? "" : verdict, tone: verdict, text: headline });
    } else yield renderRow({ place, verdict: "", tone: answer.isTarget ? "bad" : "warn", text: answer.message });
  }
  yield "</ul>";
}
