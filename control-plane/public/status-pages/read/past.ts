import type { Clock } from "#shared/time/clock.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { publishedBetween, publishedIncident } from "#control-plane/outages/incidents/published/published.ts";
import { pastWindows } from "#control-plane/outages/maintenance/published/published.ts";
import { shownFactsOf } from "#control-plane/outages/state/shown/shown.ts";
import type { ShownArchive, ShownIncident } from "#control-plane/public/status-pages/page.ts";
import { monthOf } from "#control-plane/public/status-pages/read/month.ts";
import { readCovered, showIncident } from "#control-plane/public/status-pages/read/view.ts";
import type { StatusPage } from "#control-plane/public/status-pages/settings/page-settings.ts";

/** Dependencies of what pages show of the past. */
export interface PastDeps {
  readonly sql: Sql;
  readonly clock: Clock;
}

/** Maximum numbers of incidents, and of occurrences of maintenance, of one month. */
const MOST_OF_MONTH = 100;

/**
 * Returns an incident of a page, also one that the page no longer lists; null if it is none of the page, or an open
 * outage of a monitor in maintenance, which the page does not show either.
 */
export async function readIncident(
  { sql, clock }: PastDeps,
  page: StatusPage,
  id: number,
): Promise<ShownIncident | null> {
  const now = clock.now();
  const ids = page.monitors.map((monitor) => monitor.id);
  const incident = await publishedIncident(sql, { ...page, pageId: page.id, monitorIds: ids }, id, now);
  if (incident === null) return null;
  const facts = await shownFactsOf(sql, page.accountId, ids);
  const { monitor, resolvedAt } = incident;
  if (monitor !== null && resolvedAt === null) {
    const active = [...facts.values()].filter((known) => known.id === monitor.id && known.isActive);
    if ((await readCovered(sql, page.accountId, active, now)).has(monitor.id)) return null;
  }
  return showIncident(incident, namesOn(page, facts), page.showCauses);
}

/** Returns a month of a page's archive (month.ts); null if the archive does not have it. */
export async function readArchive(
  { sql, clock }: PastDeps,
  page: StatusPage,
  name: string | null,
): Promise<ShownArchive | null> {
  const now = clock.now();
  const month = monthOf(name, page.createdAt, now);
  if (month === null) return null;
  const ids = page.monitors.map(({ id }) => id);
  const facts = await shownFactsOf(sql, page.accountId, ids);
  const period = { from: month.from, to: month.to, now, limit: MOST_OF_MONTH + 1 };
  const known = ids.flatMap((id) => facts.get(id) ?? []);
  const [incidents, maintenance, covered] = await Promise.all([
    publishedBetween(sql, { ...page, pageId: page.id, monitorIds: ids }, period),
    pastWindows(sql, page.accountId, known, period),
    readCovered(
      sql,
      page.accountId,
      known.filter(({ isActive }) => isActive),
      now,
    ),
  ]);
  const names = namesOn(page, facts);
  return {
    month,
    incidents: incidents
      .slice(0, MOST_OF_MONTH)
      .filter(({ monitor, resolvedAt }) => monitor === null || resolvedAt !== null || !covered.has(monitor.id))
      .map((incident) => showIncident(incident, names, page.showCauses)),
    maintenance: maintenance.slice(0, MOST_OF_MONTH),
    isCut: Math.max(incidents.length, maintenance.length) > MOST_OF_MONTH,
  };
}

/** Returns the names on a page of those of its monitors that exist, by id. */
function namesOn(
  { monitors }: StatusPage,
  facts: ReadonlyMap<number, { readonly name: string }>,
): ReadonlyMap<number, { readonly name: string }> {
  return new Map(
    monitors.flatMap(({ id, name }): [number, { name: string }][] => {
      const monitor = facts.get(id);
      return monitor === undefined ? [] : [[id, { name: name ?? monitor.name }]];
    }),
  );
}
