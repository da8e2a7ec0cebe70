import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { TaggedMonitor } from "#control-plane/outages/maintenance/coverage/cover.ts";
import { findPast, findPublished, type PublishedRow } from "#control-plane/outages/maintenance/published-store.ts";

/** The public part of a window. */
interface PublishedWindow {
  readonly id: number;
  readonly title: string;
  readonly status: "scheduled" | "in_progress" | "completed";
  /** Of the occurrence that runs now, else of the next one, else of the last one. */
  readonly startsAt: Date;
  readonly endsAt: Date;
  /**
   * When visitors were informed of it. Later occurrences of a repeated window are news when they come into sight, 14 days
   * ahead.
   */
  readonly announcedAt: Date;
  /** Those of the given monitors that it covers. */
  readonly monitorIds: readonly number[];
}

/** How far into the past and the future windows are shown, in milliseconds: 14 days. */
const SHOWN_MS = 14 * 86_400_000;
const MOST_WINDOWS = 100;

/**
 * Returns the public maintenance windows that concern these monitors of an account: those in progress, those of the next
 * 14 days and those of the last 14 days, the earliest first.
 */
export async function publishedWindows(
  sql: Queryable,
  accountId: number,
  monitors: readonly TaggedMonitor[],
  now: Date,
): Promise<readonly PublishedWindow[]> {
  if (monitors.length === 0) return [];
  const from = new Date(now.getTime() - SHOWN_MS);
  const to = new Date(now.getTime() + SHOWN_MS);
  const rows = await findPublished(sql, accountId, monitors, { from, now, to, limit: MOST_WINDOWS });
  return rows
    .flatMap((row) => publish(row, monitors))
    .toSorted((a, b) => a.startsAt.getTime() - b.startsAt.getTime() || a.id - b.id);
}

/**
 * Returns the occurrences of public maintenance windows that concerned these monitors of an account, began in [from, to)
 * and are over, newest first.
 */
export async function pastWindows(
  sql: Queryable,
  accountId: number,
  monitors: readonly TaggedMonitor[],
  period: { readonly from: Date; readonly to: Date; readonly now: Date; readonly limit: number },
): Promise<readonly PublishedWindow[]> {
  if (monitors.length === 0) return [];
  const rows = await findPast(sql, accountId, monitors, period);
  return rows.map(({ monitorIds, tags, ...row }) => {
    const covered = coveredBy({ monitorIds, tags }, monitors);
    return { ...row, status: "completed", monitorIds: covered.map(({ id }) => id) };
  });
}

/** Returns which of these monitors a window names, by their ids or by a tag. */
function coveredBy(
  window: Pick<PublishedRow, "monitorIds" | "tags">,
  monitors: readonly TaggedMonitor[],
): readonly TaggedMonitor[] {
  const [ids, tags] = [new Set(window.monitorIds), new Set(window.tags)];
  return monitors.filter((monitor) => ids.has(monitor.id) || monitor.tags.some((tag) => tags.has(tag)));
}

function publish(row: PublishedRow, monitors: readonly TaggedMonitor[]): readonly PublishedWindow[] {
  const occurrences = [
    ["in_progress", row.runningFrom, row.runningTo],
    ["scheduled", row.nextFrom, row.nextTo],
    ["completed", row.lastFrom, row.lastTo],
  ] as const;
  const covered = coveredBy(row, monitors);
  for (const [status, startsAt, endsAt] of occurrences) {
    if (startsAt === null || endsAt === null) continue;
    const monitorIds = covered.map(({ id }) => id);
    const inSight = row.isRepeated ? startsAt.getTime() - SHOWN_MS : 0;
    const announcedAt = new Date(Math.max(row.announcedAt.getTime(), inSight));
    return [{ id: row.id, title: row.title, status, startsAt, endsAt, announcedAt, monitorIds }];
  }
  return [];
}
