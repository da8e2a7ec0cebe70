import type { Sql } from "#control-plane/database/connect.ts";
import { mergeBaselines } from "#control-plane/evidence/baselines/merge.ts";
import { readBaselines as readRows, readGoodChecks } from "#control-plane/evidence/baselines/store.ts";
import type { Baseline } from "#control-plane/evidence/changes.ts";
import type { Facts } from "#control-plane/evidence/facts.ts";
import { decodeGoodCheck } from "#control-plane/checking/snapshots/good-check.ts";

/**
 * Reads the last good checks of a monitor for its present target, the newest first: of each location the newest one in
 * short, and the newest one that was reported in full, which is up to an hour older.
 */
export async function readBaselines(
  sql: Sql,
  monitorId: number,
  target: { readonly url: string; readonly checkType: string },
): Promise<readonly Baseline[]> {
  const [rows, checks] = await Promise.all([readRows(sql, monitorId, target.url), readGoodChecks(sql, monitorId)]);
  const full = rows.map(({ location, goodAt, facts }) => ({ location, goodAt, facts: JSON.parse(facts) as Facts }));
  const short = checks.flatMap(({ location, goodAt, good }) => {
    const decoded = decodeGoodCheck(good);
    return decoded === null ? [] : { location, goodAt, good: decoded };
  });
  return mergeBaselines(target, full, short);
}
