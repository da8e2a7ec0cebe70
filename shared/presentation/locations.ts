import type { Finding } from "#shared/findings.ts";
import { existing, fact, oneLine, table } from "#shared/presentation/build.ts";
import { present } from "#shared/presentation/present.ts";
import type { Presentation, Verdict } from "#shared/presentation/presentation.ts";
import { counted } from "#shared/presentation/values.ts";
import { worst } from "#shared/presentation/verdict.ts";
import type { Contract } from "#shared/tools/define.ts";

/** The answer of one location: a result, or why there is none. */
export interface LocationAnswer {
  /** The place in words, e.g. "eu-west, Dublin". */
  readonly place: string;
  readonly answer:
    | { readonly ok: true; readonly data: unknown }
    /** `isTarget`: the target is at fault (source target or resolver), not the probe. */
    | { readonly ok: false; readonly message: string; readonly isTarget: boolean };
}

/** A location of an answer, as the API shows it. */
export interface AnsweredPlace {
  readonly region: string;
  readonly city?: string | null;
  readonly country?: string | null;
  readonly asn?: number | null;
}

/** A row of an answer of several locations, as the API shows it. */
export interface AnsweredRow {
  readonly location: AnsweredPlace;
  readonly status: string;
  readonly data?: unknown;
  readonly error?: { readonly message: string; readonly source?: string | undefined };
}

/** Writes a place: "eu-west, Dublin, IE, AS16509". */
export function describePlace({ region, city, country, asn }: AnsweredPlace): string {
  const parts = [region, city, country, asn === null || asn === undefined ? null : `AS${asn}`];
  return oneLine(existing(...parts).join(", "));
}

/** Returns a row of an answer as `presentLocations` takes it. */
export function toLocationAnswer({ location, status, data, error }: AnsweredRow): LocationAnswer {
  const place = describePlace(location);
  if (status === "ok") return { place, answer: { ok: true, data } };
  const isTarget = error?.source === "target" || error?.source === "resolver";
  return { place, answer: { ok: false, message: oneLine(error?.message ?? "No result."), isTarget } };
}

/** Facts of each location that are compared. */
const COMPARED = 4;

/**
 * Presents the answers of several locations side by side: a row each with its most important facts. The verdict is the
 * worst one; a location whose probe failed does not count. A single answer is presented by itself.
 */
export function presentLocations(contract: Contract, rows: readonly LocationAnswer[], now: Date): Presentation {
  const answers = rows.map(({ place, answer }) => ({
    place,
    answer,
    shown: answer.ok ? present(contract, answer.data, now) : null,
  }));
  const shown = answers.flatMap(({ shown: one }) => one ?? []);
  const [only] = shown;
  if (rows.length === 1 && only !== undefined) return only;
  const labels = Array.from(new Set(shown.flatMap(({ facts }) => facts.slice(0, COMPARED).map(({ label }) => label))));
  const compared = labels.slice(0, COMPARED);
  const verdict = worst(answers.flatMap(({ answer, shown: one }) => verdictOfAnswer(answer, one)));
  const failed = answers.filter(({ shown: one }) => one === null);
  return {
    verdict,
    headline: headlineOf(answers, shown),
    facts: existing(
      fact("Locations", counted(rows.length, "location")),
      fact("Without a result", failed.length === 0 ? null : failed.length, { tone: "warning" }),
    ),
    tables: existing(
      table(
        "By location",
        ["Location", "Answer", ...compared],
        answers.map(({ place, answer, shown: one }) => ({
          cells: [
            place,
            one === null ? (answer.ok ? "" : answer.message) : one.headline,
            ...compared.map((label) => valueOf(one, label)),
          ],
          tone: one?.verdict ?? "warning",
        })),
      ),
    ),
    series: [],
    findings: mergeFindings(answers),
  };
}

function verdictOfAnswer(answer: LocationAnswer["answer"], shown: Presentation | null): readonly Verdict[] {
  if (shown !== null) return [shown.verdict];
  return !answer.ok && answer.isTarget ? ["bad"] : [];
}

/** Returns the headline that all locations have, or how many say what the first of the worst ones says. */
function headlineOf(rows: readonly { readonly place: string }[], shown: readonly Presentation[]): string {
  const first = shown.toSorted((a, b) => rank(a) - rank(b))[0];
  if (first === undefined) return `None of ${counted(rows.length, "location")} has a result`;
  const same = shown.filter(({ headline }) => headline === first.headline).length;
  if (same === rows.length) return oneLine(`${first.headline} (from all of ${counted(rows.length, "location")})`);
  return oneLine(`${first.headline} (from ${same} of ${counted(rows.length, "location")})`);
}

function rank({ verdict }: Presentation): number {
  return ["bad", "warning", "neutral", "good"].indexOf(verdict);
}

function valueOf(shown: Presentation | null, label: string): string | null {
  const found = shown?.facts.find((one) => one.label === label);
  if (found === undefined) return null;
  return found.unit === undefined ? found.value : `${found.value} ${found.unit}`;
}

/** Lists each finding once. One that only some locations have names the first of them in `where`. */
function mergeFindings(
  answers: readonly { readonly place: string; readonly shown: Presentation | null }[],
): readonly Finding[] {
  const found = new Map<string, { readonly finding: Finding; readonly places: string[] }>();
  const total = answers.filter(({ shown }) => shown !== null).length;
  for (const { place, shown } of answers)
    for (const finding of shown?.findings ?? []) {
      const key = JSON.stringify([finding.id, finding.where, finding.message]);
      const entry = found.get(key) ?? { finding, places: [] };
      entry.places.push(place);
      found.set(key, entry);
    }
  return Array.from(found.values(), ({ finding, places }) =>
    places.length === total
      ? finding
      : { ...finding, message: oneLine(`${finding.message} (${places.length} of ${total} locations)`) },
  );
}
