import { table } from "#shared/presentation/build.ts";
import type { Table } from "#shared/presentation/presentation.ts";
import { yesNo } from "#shared/presentation/values.ts";
import type { RobotsResult } from "#shared/tools/robots/contract.ts";

type Bots = Pick<RobotsResult["ai_bots"], "bots" | "allowed" | "disallowed">;
type Signals = Pick<RobotsResult, "content_signals" | "content_usage">;

const PURPOSES = { train: "training", search: "AI search", assistant: "assistant", agent: "agent" } as const;

/** Writes how many crawlers of AI services may fetch a site: "28 of 30 allowed". */
export function countBots({ allowed, disallowed }: Bots): string {
  return `${allowed} of ${allowed + disallowed} allowed`;
}

/** Lists the crawlers of AI services that a site keeps out. */
export function listBlockedBots({ bots, disallowed }: Bots): Table | null {
  return table(
    "AI crawlers that are kept out",
    ["Crawler", "Operator", "Purpose", "Named"],
    bots
      .filter(({ allowed }) => !allowed)
      .map(({ name, operator, purpose, named }) => [name, operator, PURPOSES[purpose], yesNo(named)]),
    disallowed,
  );
}

/** Writes what a site states about AI uses: "search yes, AI answers yes, AI training no". Null if it states nothing. */
export function describeSignals({ content_signals: signals, content_usage: usage }: Signals): string | null {
  const { search, ai_input: input, ai_train: train } = signals;
  const stated = [
    ["search", yesNo(search)],
    ["AI answers", yesNo(input)],
    ["AI training", yesNo(train)],
  ].flatMap(([use, answer]) => (answer === null ? [] : [`${use} ${answer}`]));
  return stated.length === 0 ? usage : stated.join(", ");
}
