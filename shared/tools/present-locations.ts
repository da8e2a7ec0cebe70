import { sortFindings, type Finding } from "#shared/contracts/findings.ts";
import { existing, fact, MOST_ROWS, MOST_TEXT, oneLine, table } from "#shared/presentation/build.ts";
import { present } from "#shared/tools/present.ts";
import type { Presentation, Verdict } from "#shared/presentation/presentation.ts";
import { counted } from "#shared/presentation/values.ts";
import { worst } from "#shared/presentation/verdict.ts";
import { listFirst } from "#shared/text/list.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
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
interface AnsweredPlace {
  readonly region: string;
  readonly city?: string | null;
  readonly country?: string | null;
  readonly asn?: number | null;
}

/** A row of an answer of several locations, as the API shows it. */
interface AnsweredRow {
  readonly location: AnsweredPlace;
  readonly status: string;
  readonly data?: unknown;
  readonly error?: { readonly message: string; readonly source?: string | undefined };
}

/** Writes a place: "eu-west, Dublin, IE, AS16509". */
function describePlace({ region, city, country, asn }: AnsweredPlace): string {
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

/** What one location says in a line. */
interface Line {
  readonly place: string;
  readonly headline: string;
  /** null: the probe failed, which says nothing about the target. */
  readonly verdict: Verdict | null;
  /** null without a result. */
  readonly shown: Presentation | null;
}

/** Facts of each location that are compared. */
const COMPARED = 4;
/** Locations that are named for one problem. */
const MOST_PLACES = 3;
const MOST_FINDINGS = 100;

/**
 * Presents the answers of several locations side by side: what goes wrong with the places where it does, and a row for
 * each location with its most important facts. The verdict is the worst one. A location where the target fails counts as
 * bad; one whose probe failed does not count. A single result is presented by itself.
 */
export function presentLocations(contract: Contract, answers: readonly LocationAnswer[], now: Date): Presentation {
  const lines = answers.map((one) => readLine(contract, one, now));
  const [only] = lines;
  if (lines.length === 1 && only?.shown) return only.shown;
  const verdicts = lines.flatMap(({ verdict }) => verdict ?? []);
  const failing = lines.filter(({ verdict, shown }) => verdict !== null && shown === null).length;
  const unknown = lines.length - verdicts.length;
  return {
    verdict: worst(verdicts),
    headline: headlineOf(lines),
    facts: existing(
      fact("Locations", counted(lines.length, "location")),
      fact("Target fails", failing === 0 ? null : `at ${counted(failing, "location")}`, { tone: "bad" }),
      fact("Without a result", unknown === 0 ? null : unknown, { tone: "warning" }),
    ),
    tables: existing(listProblems(lines), listLines(lines)),
    series: [],
    findings: mergeFindings(lines.flatMap(({ shown }) => shown ?? [])),
  };
}

function readLine(contract: Contract, { place, answer }: LocationAnswer, now: Date): Line {
  if (!answer.ok)
    return { place, headline: oneLine(answer.message), verdict: answer.isTarget ? "bad" : null, shown: null };
  const shown = present(contract, answer.data, now);
  return { place, headline: shown.headline, verdict: shown.verdict, shown };
}

/** Returns the headline that all locations have, or that of the worst one with how many have its verdict. */
function headlineOf(lines: readonly Line[]): string {
  const [first] = worstFirst(lines);
  if (first === undefined) return "No location has answered";
  const total = counted(lines.length, "location");
  if (lines.length === 1) return first.headline;
  if (first.verdict === null) return oneLine(`None of ${total} has a result: ${first.headline}`);
  const same = lines.filter(({ headline }) => headline === first.headline).length;
  if (same === lines.length) return addNote(first.headline, `(from all of ${total})`);
  if (first.verdict === "neutral") return addNote(first.headline, `(from ${same} of ${total})`);
  const alike = lines.filter(({ verdict }) => verdict === first.verdict).length;
  return addNote(first.headline, `(${first.verdict} at ${alike} of ${total})`);
}

/** Sorts locations by their verdict; those whose probe failed come last. */
function worstFirst(lines: readonly Line[]): readonly Line[] {
  const rank = ({ verdict }: Line): number =>
    verdict === null ? Infinity : ["bad", "warning", "neutral", "good"].indexOf(verdict);
  return lines.toSorted((one, other) => (rank(one) === rank(other) ? 0 : rank(one) - rank(other)));
}

/** Lists what goes wrong, the worst first, each with the locations that say so. Null if the headline says it for all. */
function listProblems(lines: readonly Line[]) {
  const isSame = lines.every(({ headline, shown }) => shown !== null && headline === lines[0]?.headline);
  const problems = lines.filter(({ verdict, shown }) => shown === null || verdict === "bad" || verdict === "warning");
  const byAnswer = Map.groupBy(worstFirst(isSame ? [] : problems), ({ headline }) => headline);
  return table(
    "What goes wrong",
    ["Location", "Answer"],
    Array.from(byAnswer, ([answer, places]) => ({
      cells: [
        listFirst(
          places.map(({ place }) => place),
          MOST_PLACES,
        ),
        answer,
      ],
      tone: places[0]?.verdict ?? "warning",
    })),
  );
}

/** Lists the locations as they were asked, or the worst first if a table does not hold all of them. */
function listLines(lines: readonly Line[]) {
  const compared = comparedFacts(lines.flatMap(({ shown }) => shown ?? []));
  if (compared.length === 0) return null;
  return table(
    "By location",
    ["Location", ...compared],
    (lines.length > MOST_ROWS ? worstFirst(lines) : lines).map(({ place, verdict, shown }) => ({
      cells: [
        place,
        ...(shown === null
          ? [verdict === null ? "no result" : "fails"]
          : compared.map((label) => valueOf(shown, label))),
      ],
      tone: verdict ?? "warning",
    })),
  );
}

/** Returns the labels of the facts that most locations begin with. */
function comparedFacts(shown: readonly Presentation[]): readonly string[] {
  const labels = shown.flatMap(({ facts }) => facts.slice(0, COMPARED).map(({ label }) => label));
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return Array.from(counts)
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, COMPARED)
    .map(([label]) => label);
}

function valueOf({ facts }: Presentation, label: string): string | null {
  const found = facts.find((one) => one.label === label);
  if (found === undefined) return null;
  return found.unit === undefined ? found.value : `${found.value} ${found.unit}`;
}

/** Lists each finding once, the most severe first. One that only some results have names their number. */
function mergeFindings(results: readonly Presentation[]): readonly Finding[] {
  const found = new Map<string, { readonly finding: Finding; count: number }>();
  for (const finding of results.flatMap(({ findings }) => findings)) {
    const key = JSON.stringify([finding.id, finding.where, finding.message]);
    const entry = found.get(key);
    if (entry === undefined) found.set(key, { finding, count: 1 });
    else entry.count += 1;
  }
  const merged = Array.from(found.values(), ({ finding, count }) =>
    count === results.length
      ? finding
      : { ...finding, message: addNote(finding.message, `(${count} of ${results.length} locations)`) },
  );
  return sortFindings(merged).slice(0, MOST_FINDINGS);
}

/** Adds a note to a text, which is cut so that the note is kept whole. */
function addNote(text: string, note: string): string {
  return `${toPlainLine(text, MOST_TEXT - note.length - 1)} ${note}`;
}
