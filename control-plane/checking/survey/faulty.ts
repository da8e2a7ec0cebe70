import { isRecord } from "#shared/is-record.ts";
import type { Queryable } from "#control-plane/database/connect.ts";
import { readUnknownChecks } from "#control-plane/checking/survey/store.ts";

/** A check that a probe could not run, and that is the newest of its monitor at its location. */
export interface FaultyCheck {
  readonly monitorId: number;
  readonly accountId: number;
  readonly location: string;
  readonly reason: string;
}

/**
 * Reads the newest checks since a time that a probe could not run, for other reasons than these, newest first. Faults are
 * parsed here and not by the database, where one that cannot be parsed would fail the whole survey: it is left out.
 */
export async function readFaulty(
  sql: Queryable,
  { since, except, most }: { readonly since: Date; readonly except: readonly string[]; readonly most: number },
): Promise<readonly FaultyCheck[]> {
  const checks = await readUnknownChecks(sql, { since, most });
  return checks.flatMap(({ fault: text, ...check }) => {
    const fault = parse(text);
    if (!isRecord(fault) || fault["source"] !== "probe") return [];
    const reason = typeof fault["reason"] === "string" ? fault["reason"] : "";
    return except.includes(reason) ? [] : [{ ...check, reason }];
  });
}

function parse(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
