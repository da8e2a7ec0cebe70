import type { Notifications } from "#control-plane/core/database/notifications.ts";
import { onPageChanges } from "#control-plane/core/page-changes.ts";
import { createSharedCache } from "#control-plane/core/shared-cache.ts";
import { logoPath } from "#control-plane/public/status-pages/logos/logo.ts";
import { findLogo, type StoredLogo } from "#control-plane/public/status-pages/logos/store.ts";
import type { ArchiveView, IncidentView, PageView } from "#control-plane/public/status-pages/page.ts";
import { createPastCache } from "#control-plane/public/status-pages/read/past-cache.ts";
import { buildView } from "#control-plane/public/status-pages/read/build-page.ts";
import type { StatusPage } from "#control-plane/public/status-pages/settings/page-settings.ts";
import { isSlug } from "#control-plane/public/status-pages/settings/slug.ts";
import { findBySlug } from "#control-plane/public/status-pages/store.ts";

/** Pages as their visitors see them, at most 10 s old. Of a page that is not public only its account sees anything. */
export interface SeenPages {
  /** Returns what a page shows; null if there is none with this slug that the viewer can see. */
  view(slug: string, viewerAccountId: number | null): Promise<PageView | null>;
  /** Returns an incident with its page; null as for view, or if the page does not show it (read/past-cache.ts). */
  incident(slug: string, viewerAccountId: number | null, id: number): Promise<IncidentView | null>;
  /** Returns a month of a page's archive, without a name the running one; null as for view, or if there is none. */
  archive(slug: string, viewerAccountId: number | null, month: string | null): Promise<ArchiveView | null>;
  /** Returns the logo of a page by its path below the page; null as for view, or if the page has another one. */
  logo(slug: string, viewerAccountId: number | null, path: string): Promise<StoredLogo | null>;
  /** Returns the public page with a slug to which visitors can subscribe; null if there is none. */
  subscribable(slug: string): Promise<Pick<StatusPage, "id" | "accountId" | "title" | "accent_color" | "logo"> | null>;
}

/** How long a view is used, in milliseconds. A change of the page's account ends it at once. */
const CACHED_MS = 10_000;
const CACHED_PAGES = 1_000;
/** Maximum number of monitors in cached views: each takes some 10 KB. */
const CACHED_MONITORS = 5_000;
/** How long a logo is kept, in milliseconds, and how many bytes of logos. Its name has its hash, so that it stays right. */
const LOGO_MS = 600_000;
const LOGO_BYTES = 16_777_216;
/** Maximum number of look-ups of each kind at the same time, so that other work has connections too. */
const MOST_LOADS = 3;
/** Maximum number of look-ups of each kind that wait; requests for further names without a page are refused. */
const MOST_WAITING = 1_000;

/** A cached page. */
interface CachedPage {
  readonly accountId: number;
  readonly page: StatusPage;
}

/** The cached view of a page. */
interface CachedView {
  readonly accountId: number;
  readonly view: PageView;
}

/** Creates the pages of one replica, read once for all who ask at the same time. */
export function createSeenPages({
  notifications,
  onAddressesChanged,
  ...deps
}: Parameters<typeof buildView>[0] & {
  readonly notifications: Notifications;
  readonly onAddressesChanged: () => void;
}): SeenPages {
  const { sql, clock } = deps;
  // Apart from its view: a request that may not see a page costs what one for a slug without a page costs, so that nobody
  // finds private pages by the time of the answer.
  const heads = createSharedCache<CachedPage>({
    clock,
    ttlMs: CACHED_MS,
    most: CACHED_PAGES,
    mostSize: CACHED_MONITORS,
    sizeOf: ({ page }) => page.monitors.length,
    mostLoads: MOST_LOADS,
    mostWaiting: MOST_WAITING,
    async load(slug) {
      const page = await findBySlug(sql, slug);
      return page === null ? null : { accountId: page.accountId, page };
    },
  });
  const views = createSharedCache<CachedView>({
    clock,
    ttlMs: CACHED_MS,
    most: CACHED_PAGES,
    mostSize: CACHED_MONITORS,
    sizeOf: ({ view }) => view.groups.reduce((count, { monitors }) => count + monitors.length, 0),
    mostLoads: MOST_LOADS,
    mostWaiting: MOST_WAITING,
    async load(slug) {
      const page = await findBySlug(sql, slug);
      return page === null ? null : { accountId: page.accountId, view: await buildView(deps, page) };
    },
  });
  const logos = createSharedCache<StoredLogo>({
    clock,
    ttlMs: LOGO_MS,
    most: CACHED_PAGES,
    mostSize: LOGO_BYTES,
    sizeOf: ({ content }) => content.length,
    mostLoads: MOST_LOADS,
    mostWaiting: MOST_WAITING,
    async load(name) {
      const [id = "", hash = ""] = name.split(" ");
      return findLogo(sql, Number(id), hash);
    },
  });
  const past = createPastCache({ sql, clock });
  onPageChanges(notifications, {
    accountChanged(accountId) {
      past.forget(accountId);
      heads.forget((cached) => cached?.accountId === accountId);
      logos.forget((cached) => cached === null);
      views.forget((cached) => cached?.accountId === accountId);
    },
    addressesChanged() {
      heads.forget((cached) => cached === null);
      views.forget((cached) => cached === null);
      onAddressesChanged();
    },
    reset() {
      past.reset();
      heads.forget(() => true);
      views.forget(() => true);
      onAddressesChanged();
    },
  });

  /** Returns a page that a viewer can see. */
  async function headFor(slug: string, viewerAccountId: number | null): Promise<CachedPage | null> {
    const head = isSlug(slug) ? await heads.get(slug) : null;
    return head !== null && (head.page.is_public || head.accountId === viewerAccountId) ? head : null;
  }

  /** Returns the cached view of a page that a viewer can see. */
  async function seen(slug: string, viewerAccountId: number | null): Promise<CachedView | null> {
    const head = await headFor(slug, viewerAccountId);
    if (head === null) return null;
    const cached = await views.get(slug);
    // Between two look-ups another account can have taken the slug.
    return cached?.accountId === head.accountId ? cached : null;
  }

  return {
    view: async (slug, viewerAccountId) => (await seen(slug, viewerAccountId))?.view ?? null,
    async incident(slug, viewerAccountId, id) {
      const cached = await seen(slug, viewerAccountId);
      const found = cached === null ? null : await past.incident(slug, id);
      if (cached === null || found?.accountId !== cached.accountId) return null;
      return { ...found, view: cached.view };
    },
    async archive(slug, viewerAccountId, month) {
      const cached = await seen(slug, viewerAccountId);
      const found = cached === null ? null : await past.archive(slug, month);
      if (cached === null || found?.accountId !== cached.accountId) return null;
      return { ...found, view: cached.view };
    },
    async logo(slug, viewerAccountId, path) {
      const { id, logo = null } = (await headFor(slug, viewerAccountId))?.page ?? {};
      return logo === null || logoPath(logo) !== path ? null : logos.get(`${id} ${logo.hash}`);
    },
    async subscribable(slug) {
      const head = isSlug(slug) ? await heads.get(slug) : null;
      return head?.page.is_public === true ? head.page : null;
    },
  };
}
