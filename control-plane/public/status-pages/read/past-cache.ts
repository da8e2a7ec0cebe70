import { createSharedCache } from "#control-plane/core/shared-cache.ts";
import type { ShownArchive, ShownIncident } from "#control-plane/public/status-pages/page.ts";
import { monthOf } from "#control-plane/public/status-pages/read/month.ts";
import { readArchive, readIncident, type PastDeps } from "#control-plane/public/status-pages/read/past.ts";
import { findBySlug } from "#control-plane/public/status-pages/store.ts";

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
  /** Returns an incident of the page with a slug (past.ts). */
  incident(slug: string, id: number): Promise<CachedIncident | null>;
  /** Returns a month of the archive of the page with a slug (past.ts). */
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
export function createPastCache(deps: PastDeps): PastCache {
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
