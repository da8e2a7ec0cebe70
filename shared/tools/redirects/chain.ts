import type { Static } from "typebox";
import { fact, table } from "#shared/presentation/build.ts";
import type { Fact, Table } from "#shared/presentation/presentation.ts";
import { counted, cutUrl } from "#shared/presentation/values.ts";
import type { Unanswered } from "#shared/tools/redirects/unanswered.ts";

/** How a chain of redirects ends. */
interface ChainEnd {
  readonly url: string;
  /** HTTP status; null if the last URL does not respond. */
  readonly code: number | null;
  /** Number of redirects. */
  readonly count: number;
  readonly loop: boolean;
  readonly truncated: boolean;
  readonly failure: Static<typeof Unanswered>;
}

/** Says where a chain leads, as the second part of a sentence about its first URL. */
export function describeEnd({ url, code, count, loop, truncated, failure }: ChainEnd): string {
  if (failure !== null)
    return `leads to ${cutUrl(failure.url)}, which does not answer: ${failure.message.replace(/\.$/, "")}`;
  if (loop) return `redirects in a circle after ${counted(count, "redirect")} and never arrives`;
  if (truncated) return `does not arrive: ${counted(count, "redirect")} followed, and there are more`;
  const answer = describeAnswer(code);
  if (count === 0) return answer === null ? "does not redirect" : `does not redirect, and answers ${answer}`;
  return `leads to ${cutUrl(url)}${answer === null ? "" : `, which answers ${answer}`}`;
}

/** Describes the status at the end of a chain; null if visitors get a page. */
function describeAnswer(code: number | null): string | null {
  if (code === null || code < 300) return null;
  return code < 400 ? `${code}, a redirect that cannot be followed` : String(code);
}

/** Makes the fact of the last status; marks one that visitors do not want. */
export function statusFact({ code }: Pick<ChainEnd, "code">): Fact | null {
  if (code === null) return fact("Status", "no answer", { tone: "bad" });
  return fact("Status", code, { tone: code >= 500 ? "bad" : code >= 300 ? "warning" : "good" });
}

/** Lists parameters of a URL that track visitors; null if there are none. */
export function trackingTable(params: readonly { readonly name: string; readonly vendor: string }[]): Table | null {
  return table(
    "Tracking parameters",
    ["Parameter", "Used by"],
    params.map(({ name, vendor }) => [name, vendor]),
  );
}
