import { field } from "#shared/client/call.ts";
import {
  BAD,
  exitCodeOf,
  exitCodeOfLocations,
  exitCodeOfVerdict,
  type FailOn,
  GOOD,
} from "#shared/client/exit-codes.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { oneLine } from "#shared/presentation/build.ts";
import { presentLocations, type LocationAnswer } from "#shared/tools/present-locations.ts";
import { present } from "#shared/tools/present.ts";
import type { Presentation } from "#shared/presentation/presentation.ts";
import type { Contract } from "#shared/tools/define.ts";

/** The answer of one location, with its exit status if it has no result. */
export type Row = LocationAnswer & { readonly exit: ReturnType<typeof exitCodeOf> };

/** A call of a tool that says something about its target. */
export interface ToolResult {
  /** What programs read: the result, the results of all locations, or `{error}` of the target. */
  readonly document: unknown;
  readonly rows: readonly Row[];
  /** Id of the public page; null if it is not shared. */
  readonly shareId: string | null;
}

/** A result, or the exit status and what to print on standard error: one or two lines. */
export type ToolAnswer =
  | { readonly ok: true; readonly result: ToolResult }
  | { readonly ok: false; readonly exit: number; readonly line: string };

/**
 * Reads an answer of the service. `status`: its HTTP status; 0 for the error of a stream, which has none. `base`: the
 * address of the service, and `nameParam` names a parameter as the command does, for messages.
 */
export function readToolAnswer(
  status: number,
  body: unknown,
  { base, nameParam }: { readonly base: string; readonly nameParam: (field: string) => string },
): ToolAnswer {
  const exit = exitCodeOf(status, body);
  const error = field(body, "error");
  if (exit === BAD) {
    const rows = [{ place: "", answer: failure(error, exit), exit }];
    return { ok: true, result: { document: { error }, rows, shareId: shareIdOf(body) } };
  }
  if (exit !== GOOD) return { ok: false, exit, line: explainParam(error, nameParam) ?? explain(status, error, base) };
  const document = field(body, "data");
  if (!isRecord(document)) {
    return {
      ok: false,
      exit: exitCodeOf(0, null),
      line: `${base} answered ${status} without a result: is it Vantage?`,
    };
  }
  const rows = rowsOf(document, field(field(body, "meta"), "location"));
  const worst = exitCodeOfLocations(rows.map((row) => row.exit));
  if (worst > BAD) return { ok: false, exit: worst, line: explainRows(rows) };
  return { ok: true, result: { document, rows, shareId: shareIdOf(body) } };
}

/** Presents the answers of a call: one by itself, several side by side. */
export function presentResult(contract: Contract, { rows }: ToolResult, now: Date): Presentation {
  const [only] = rows;
  if (rows.length !== 1 || only === undefined) return presentLocations(contract, rows, now);
  if (only.answer.ok) return present(contract, only.answer.data, now);
  const none = { facts: [], tables: [], series: [], findings: [] };
  return { verdict: "bad", headline: only.answer.message, ...none };
}

/** Returns the exit status of a result, by its verdict. */
export function exitCodeOfResult({ rows }: ToolResult, contract: Contract, now: Date, failOn: FailOn): number {
  return exitCodeOfLocations(
    rows.map(({ answer, exit }) => {
      if (answer.ok) return exitCodeOfVerdict(present(contract, answer.data, now).verdict, failOn);
      return exit === BAD ? exitCodeOfVerdict("bad", failOn) : exit;
    }),
  );
}

/** Returns the rows of `data.locations`, or the only one. */
function rowsOf(document: object, location: unknown): readonly Row[] {
  const listed = field(document, "locations");
  // A tool's own result has no list of answers with a status each.
  if (!Array.isArray(listed) || !listed.every((row) => isRecord(field(row, "location")))) {
    return [{ place: placeOf(location), answer: { ok: true, data: document }, exit: GOOD }];
  }
  const rows = listed.map(readRow);
  const count = (name: string) => rows.filter(({ place }) => place === name).length;
  // Two probes of one place differ by their number.
  return rows.map((row, index) =>
    count(row.place) === 1
      ? row
      : {
          ...row,
          place: `${row.place} #${rows.slice(0, index + 1).filter(({ place }) => place === row.place).length}`,
        },
  );
}

/** Reads one row of `data.locations`, or a `result` event of a stream. */
export function readRow(row: unknown): Row {
  const place = placeOf(field(row, "location"));
  if (field(row, "status") === "ok") return { place, answer: { ok: true, data: field(row, "data") }, exit: GOOD };
  const error = field(row, "error");
  const exit = exitCodeOf(0, { error });
  return { place, answer: failure(error, exit), exit };
}

function failure(error: unknown, exit: number): LocationAnswer["answer"] {
  return { ok: false, message: messageOf(error) ?? "no result", isTarget: exit === BAD };
}

/** Returns the name of a location: "eu-west, Dublin". Empty if it is unknown. */
export function placeOf(location: unknown): string {
  const parts = [field(location, "region"), field(location, "city") ?? field(location, "country")];
  return oneLine(parts.filter((part) => typeof part === "string" && part !== "").join(", "));
}

function shareIdOf(body: unknown): string | null {
  const id = field(field(body, "meta"), "share_id");
  return typeof id === "string" ? id : null;
}

/** Explains an error of one parameter; null for other errors. The messages of the API begin with the parameter. */
function explainParam(error: unknown, nameParam: (field: string) => string): string | null {
  const name = field(error, "field");
  const message = messageOf(error);
  if (field(error, "code") !== "missing_parameter" || typeof name !== "string" || message === null) return null;
  return message.startsWith(`${name}: `) ? `${nameParam(name)}${message.slice(name.length)}` : message;
}

function explain(status: number, error: unknown, base: string): string {
  const code = field(error, "code");
  if (typeof code !== "string") return `${base} answered ${status}, and not as Vantage does: check VANTAGE_BASE_URL`;
  return `${code}: ${messageOf(error) ?? `status ${status}`}`;
}

function explainRows(rows: readonly Row[]): string {
  const [first] = rows;
  if (first === undefined || first.answer.ok) return "no location has a result";
  const { message } = first.answer;
  return rows.length === 1 ? message : `none of ${rows.length} locations has a result. ${first.place}: ${message}`;
}

function messageOf(error: unknown): string | null {
  const message = field(error, "message");
  return typeof message === "string" && message !== "" ? message : null;
}
