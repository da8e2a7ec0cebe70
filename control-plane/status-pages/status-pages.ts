import type { Logger } from "pino";
import type { Random } from "#shared/clock.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Queryable, Sql, Transaction } from "#control-plane/database/connect.ts";
import type { Notifications } from "#control-plane/database/notifications.ts";
import type { DocumentPart } from "#control-plane/document-part.ts";
import type { Written } from "#control-plane/http/written.ts";
import { notePageChanged, onPageChanges } from "#control-plane/page-changes/page-changes.ts";
import { createSharedCache } from "#control-plane/shared-cache.ts";
import { namesOf } from "#control-plane/state/shown/shown.ts";
import { createPageRows } from "#control-plane/status-pages/document-rows.ts";
import { createServedDomains } from "#control-plane/status-pages/domains/served.ts";
import { releaseAll } from "#control-plane/status-pages/domains/store.ts";
import { startVerification } from "#control-plane/status-pages/domains/verification.ts";
import type { ArchiveView, IncidentView, OverallStatus, PageView } from "#control-plane/status-pages/page.ts";
import { createPageUrls } from "#control-plane/status-pages/page-url.ts";
import { createPastCache } from "#control-plane/status-pages/read/past-cache.ts";
import { buildView, readOverall, type ViewDeps } from "#control-plane/status-pages/read/view.ts";
import type { Given } from "#control-plane/status-pages/settings/fields.ts";
import type { StatusPage } from "#control-plane/status-pages/settings/page-settings.ts";
import { isSlug } from "#control-plane/status-pages/settings/slug.ts";
import { showPage, type ShownPage } from "#control-plane/status-pages/show-page.ts";
import { countPages, findBySlug, findOwned, findPage, listPages } from "#control-plane/status-pages/store.ts";
import {
  changePage,
  createPage,
  draftPage,
  MOST_PAGES,
  removePage,
  type WrittenPage,
} from "#control-plane/status-pages/writes.ts";
import type { Teardown } from "#control-plane/teardown.ts";

/** A page of an account. */
interface OwnPage {
  readonly accountId: number;
  readonly id: number;
}

/** Status pages. Writes belong to the caller's transaction, which a refusal rolls back. */
export interface StatusPages {
  /**
   * Returns what a page shows, at most 10 s old; null if there is none with this slug, or if it is not public and the
   * viewer is not its account.
   */
  view(slug: string, viewerAccountId: number | null): Promise<PageView | null>;
  /** Returns an incident with its page; null as for view, or if the page does not show it (read/past.ts). */
  incident(slug: string, viewerAccountId: number | null, id: number): Promise<IncidentView | null>;
  /** Returns a month of a page's archive, without a name the running one; null as for view, or if there is none. */
  archive(slug: string, viewerAccountId: number | null, month: string | null): Promise<ArchiveView | null>;
  /** Returns the public page with a slug to which visitors can subscribe; null if there is none. */
  subscribable(slug: string): Promise<Pick<StatusPage, "id" | "accountId" | "title"> | null>;
  /** Returns the slug of the page whose verified domain is in a Host field; null if there is none. */
  slugOfDomain(host: string): string | null;
  /** Writes return the id of the page. */
  create(tx: Transaction, accountId: number, given: Given): Promise<Written<WrittenPage>>;
  change(tx: Transaction, page: OwnPage, given: Given): Promise<Written<WrittenPage>>;
  remove(tx: Transaction, page: OwnPage): Promise<Written<WrittenPage>>;
  /** Returns what a page would show after a write of these fields, without a write. `id`: null for a new page. */
  preview(accountId: number, id: number | null, given: Given): Promise<Written<PageView>>;
  /** Returns the overall status of pages of an account by id, as they are now. */
  statuses(accountId: number, pages: readonly ShownPage[]): Promise<ReadonlyMap<number, OverallStatus>>;
  /** Finds a page as the API shows it; null if the account has none with this id. */
  find(sql: Queryable, page: OwnPage): Promise<ShownPage | null>;
  /** Lists a page of an account's status pages, newest first, and their total number. */
  list(
    accountId: number,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly pages: readonly ShownPage[]; readonly total: number }>;
  /** Returns which of these ids are status pages of the account. */
  owned(sql: Queryable, accountId: number, ids: readonly number[]): Promise<readonly number[]>;
  /** The status pages of an export and an import of monitors. */
  readonly rows: DocumentPart;
  /** Returns the status pages of an account for its data export. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
  /** Gives up the domains of an account that is being erased, and makes every replica read its pages again. */
  accountErased(tx: Queryable, accountId: number): Promise<void>;
  /** Reads what requests need before they are answered. Rejects if the database is away. */
  start(): Promise<void>;
  /** Stops the reading of domains. */
  close(): void;
}

/** Dependencies of status pages. */
interface StatusPagesDeps extends Pick<ViewDeps, "sql" | "clock" | "history"> {
  readonly sql: Sql;
  readonly random: Random;
  readonly log: Logger;
  readonly notifications: Notifications;
  /** Address of the service. */
  readonly baseUrl: string;
  /** Whether visitors can subscribe by mail. */
  readonly canSubscribe: boolean;
}

/** How long a view is used, in milliseconds. A change of the page's account ends it at once. */
const CACHED_MS = 10_000;
const CACHED_PAGES = 1_000;
/** Maximum number of monitors in cached views: each takes some 10 KB. */
const CACHED_MONITORS = 5_000;
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

/**
 * Opens the status pages of one replica, and starts to verify their domains. The pages of an account are part of its data
 * export, and end with it. Rejects while the database is away.
 */
export async function openStatusPages(
  deps: StatusPagesDeps & Parameters<typeof startVerification>[0] & { readonly accounts: Accounts },
  teardown: Teardown,
): Promise<StatusPages> {
  const pages = createStatusPages(deps);
  teardown.push(() => pages.close());
  await pages.start();
  const verification = startVerification(deps);
  teardown.push(() => verification.stop());
  deps.accounts.addExporter("status_pages", (tx, accountId) => pages.export(tx, accountId));
  deps.accounts.onErase((tx, accountId) => pages.accountErased(tx, accountId));
  return pages;
}

/** Creates the status pages of one replica. */
export function createStatusPages({
  sql,
  clock,
  random,
  log,
  history,
  notifications,
  baseUrl,
  canSubscribe,
}: StatusPagesDeps): StatusPages {
  const { hostname } = new URL(baseUrl);
  const urlOf = createPageUrls(baseUrl);
  const viewDeps = { sql, clock, history, urlOf, canSubscribe };
  const writeDeps = { clock, random, ownHost: hostname };
  const domains = createServedDomains({ sql, log, ownHost: hostname });

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
      return page === null ? null : { accountId: page.accountId, view: await buildView(viewDeps, page) };
    },
  });
  const past = createPastCache({ sql, clock });
  onPageChanges(notifications, {
    accountChanged(accountId) {
      past.forget(accountId);
      heads.forget((cached) => cached?.accountId === accountId);
      views.forget((cached) => cached?.accountId === accountId);
    },
    addressesChanged() {
      heads.forget((cached) => cached === null);
      views.forget((cached) => cached === null);
      domains.changed();
    },
    reset() {
      past.reset();
      heads.forget(() => true);
      views.forget(() => true);
      domains.changed();
    },
  });

  async function showAll(
    on: Queryable,
    accountId: number,
    pages: readonly StatusPage[],
  ): Promise<readonly ShownPage[]> {
    const ids = new Set(pages.flatMap(({ monitors }) => monitors.map(({ id }) => id)));
    const names = await namesOf(on, accountId, [...ids]);
    return pages.map((page) => showPage(page, names, urlOf(page)));
  }

  /** Returns the cached view of a page that a viewer can see. */
  async function seen(slug: string, viewerAccountId: number | null): Promise<CachedView | null> {
    const head = isSlug(slug) ? await heads.get(slug) : null;
    if (head === null || !(head.page.isPublic || head.accountId === viewerAccountId)) return null;
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
    async subscribable(slug) {
      const head = isSlug(slug) ? await heads.get(slug) : null;
      return head?.page.isPublic === true ? head.page : null;
    },
    slugOfDomain: (field) => domains.slugOf(field),
    create: (tx, accountId, given) => createPage(writeDeps, tx, accountId, given),
    change: (tx, page, given) => changePage(writeDeps, tx, page, given),
    remove: (tx, page) => removePage(writeDeps, tx, page),
    async preview(accountId, id, given) {
      const draft = await draftPage(writeDeps, sql, { accountId, id }, given);
      return draft.ok ? { ok: true, value: await buildView(viewDeps, draft.value) } : draft;
    },
    statuses: (accountId, pages) => readOverall(sql, accountId, pages, clock.now()),
    async find(on, { accountId, id }) {
      const page = await findPage(on, accountId, id);
      return page === null ? null : ((await showAll(on, accountId, [page]))[0] ?? null);
    },
    async list(accountId, limits) {
      const [pages, total] = await Promise.all([listPages(sql, accountId, limits), countPages(sql, accountId)]);
      return { pages: await showAll(sql, accountId, pages), total };
    },
    owned: findOwned,
    rows: createPageRows(writeDeps),
    export: async (on, accountId) =>
      showAll(on, accountId, await listPages(on, accountId, { limit: MOST_PAGES, offset: 0 })),
    async accountErased(tx, accountId) {
      await releaseAll(tx, accountId, clock.now());
      await notePageChanged(tx, accountId);
    },
    start: () => domains.read(),
    close: () => domains.close(),
  };
}
