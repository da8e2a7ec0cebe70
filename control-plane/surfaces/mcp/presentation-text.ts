import type { MultiData } from "#control-plane/checks/answer.ts";
import { showHidden } from "#shared/text/hidden-characters.ts";
import { presentLocations, toLocationAnswer } from "#shared/presentation/locations.ts";
import { present } from "#shared/presentation/present.ts";
import type { Presentation } from "#shared/presentation/presentation.ts";
import type { Contract } from "#shared/tools/define.ts";

/** Maximum size of the text of one location, in octets. */
const MOST_BYTES = 2_000;
const CUT = "(more in structuredContent)";

/** Writes the result of one location for a model: verdict, headline, facts and findings in at most 2,000 octets. */
export function writeResult(contract: Contract, data: unknown, now: Date): string {
  return writePresentation(present(contract, data, now));
}

/** Writes the results of several locations: what they have in common and where they differ, then each by itself. */
export function writeLocations(contract: Contract, { locations }: MultiData, now: Date): string {
  const answers = locations.map((row) => toLocationAnswer(row));
  const each = answers.map(({ place, answer }) => {
    const text = answer.ok ? writeResult(contract, answer.data, now) : `failed: ${showHidden(answer.message)}`;
    return keep([`From ${showHidden(place)}`, ...text.split("\n")]);
  });
  if (each.length === 1) return each.join("");
  return [writePresentation(presentLocations(contract, answers, now)), ...each].join("\n\n");
}

function writePresentation({ verdict, headline, facts, findings }: Presentation): string {
  return keep([
    `${verdict}: ${showHidden(headline)}`,
    ...facts.map(({ label, value, unit }) => `${label}: ${showHidden(value)}${unit === undefined ? "" : ` ${unit}`}`),
    ...findings.map(({ severity, message, how, where }) => {
      const about = where === null ? "" : ` (${showHidden(where)})`;
      return `${severity}: ${showHidden(message)}${about}${how === null ? "" : ` Fix: ${showHidden(how)}`}`;
    }),
  ]);
}

/** Joins the first lines that fit into the size of one location. */
function keep(lines: readonly string[]): string {
  const kept: string[] = [];
  let room = MOST_BYTES - Buffer.byteLength(CUT) - 1;
  for (const line of lines) {
    room -= Buffer.byteLength(line) + 1;
    if (room < 0) return [...kept, CUT].join("\n");
    kept.push(line);
  }
  return kept.join("\n");
}
