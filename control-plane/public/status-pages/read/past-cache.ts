import type { App } from "#control-plane/core/app.ts";
import { createSharedCache } from "#control-plane/core/shared-cache.ts";
import type { ShownArchive, ShownIncident } from "#control-plane/public/status-pages/page.ts";
import { monthOf } from "#control-plane/public/status-pages/read/month.ts";
import { findBySlug } from "#control-plane/public/status-pages/store.ts";
import { publishedBetween, publishedIncident } from "#control-plane/outages/incidents/published.ts";
import { pastWindows } from "#control-plane/outages/maintenance/published.ts";
import { summariesOf } from "#control-plane/outages/state/summary.ts";
import { readCovered, showIncident } from "#control-plane/public/status-pages/read/build-page.ts";
import type { StatusPage } from "#control-plane/public/status-pages/settings/page-settings.ts";

/** An incident of a page, with the account of the page. */
interface CachedIncident {
  readonly accountId: number;
  readonly incident: ShownIncident;
  readonly month: string | null;
  readonly generatedAt: Date;
}

/** A month of a page, with the account of the page. */
interface CachedArchive {
  readonly accountId: number;
  readonly archive: ShownArchive;
  readonly generatedAt: Date;
}

/** What pages show of the past, read once for all who ask at the same time. */
interface PastCache {
  /** Returns an incident of the page with a slug. */
  incident(slug: string, id: number): Promise<CachedIncident | null>;
  /** Returns a month of the archive of the page with a slug. */
  archive(slug: string, month: string | null): Promise<CachedArchive | null>;
  /** Forgets what belongs to an account. */
  forget(accountId: number): void;
  reset(): void;
}

const CACHED_MS = 10_000;
const MOST = 1_000;
/** Maximum number of incidents in cached months. */
const MOST_INCIDENTS = 10_000;
const MOST_LOADS = 2;
const MOST_WAITING = 1_000;

/** Creates the cache of one replica. */
export function createPastCache(deps: Pick<App, "sql" | "clock">): PastCache {
  const { sql, clock } = deps;
  const limits = { clock, ttlMs: CACHED_MS, most: MOST, mostLoads: MOST_LOADS, mostWaiting: MOST_WAITING };
  const incidents = createSharedCache<CachedIncident>({
    ...limits,
    mostSize: MOST,
    sizeOf: () => 1,
    async load(name) {
      const [slug = "", id = ""] = name.split(" ");
      const page = await findBySlug(sql, slug);
      const generatedAt = clock.now();
      const incident = page === null ? null : await readIncident(deps, page, Number(id));
      if (page === null || incident === null) return null;
      const month = monthOf(incident.startedAt.toISOString().slice(0, 7), page.createdAt, generatedAt)?.name ?? null;
      return { accountId: page.accountId, incident, month, generatedAt };
    },
  });
  const archives = createSharedCache<CachedArchive>({
    ...limits,
    mostSize: MOST_INCIDENTS,
    sizeOf: ({ archive }) => archive.incidents.length + archive.maintenance.length,
    async load(name) {
      const [slug = "", month = ""] = name.split(" ");
      const page = await findBySlug(sql, slug);
      const generatedAt = clock.now();
      const archive = page === null ? null : await readArchive(deps, page, month === "" ? null : month);
      if (page === null || archive === null) return null;
      return { accountId: page.accountId, archive, generatedAt };
    },
  });
  return {
    incident: (slug, id) => incidents.get(`${slug} ${id}`),
    archive: (slug, month) => archives.get(`${slug} ${month ?? ""}`),
    forget(accountId) {
      incidents.forget((cached) => cached?.accountId === accountId);
      archives.forget((cached) => cached?.accountId === accountId);
    },
    reset() {
      incidents.forget(() => true);
      archives.forget(() => true);
    },
  };
}

/** Maximum numbers of incidents, and of occurrences of maintenance, of one month. */
const MOST_OF_MONTH = 100;

/**
 * Returns an incident of a page, also one that the page no longer lists; null if it is none of the page, or an open
 * outage of a monitor in maintenance, which the page does not show either.
 */
async function readIncident(
  { sql, clock }: Pick<App, "sql" | "clock">,
  page: StatusPage,
  id: number,
): Promise<ShownIncident | null> {
  const now = clock.now();
  const ids = page.monitors.map((monitor) => monitor.id);
  const incident = await publishedIncident(sql, { ...page, pageId: page.id, monitorIds: ids }, id, now);
  if (incident === null) return null;
  const facts = await summariesOf(sql, page.accountId, ids);
  const { monitor, resolvedAt } = incident;
  if (monitor !== null && resolvedAt === null) {
    const active = [...facts.values()].filter((known) => known.id === monitor.id && known.isActive);
    if ((await readCovered(sql, page.accountId, active, now)).has(monitor.id)) return null;
  }
  return showIncident(incident, namesOn(page, facts), page.show_causes);
}

/** Returns a month of a page's archive (month.ts); null if the archive does not have it. */
async function readArchive(
  { sql, clock }: Pick<App, "sql" | "clock">,
  page: StatusPage,
  name: string | null,
): Promise<ShownArchive | null> {
  const now = clock.now();
  const month = monthOf(name, page.createdAt, now);
  if (month === null) return null;
  const ids = page.monitors.map(({ id }) => id);
  const facts = await summariesOf(sql, page.accountId, ids);
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
      .map((incident) => showIncident(incident, names, page.show_causes)),
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
