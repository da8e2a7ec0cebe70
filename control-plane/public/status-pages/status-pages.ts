import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import type { DocumentPart } from "#control-plane/accounts/document-part.ts";
import type { Written } from "#control-plane/http/written.ts";
import { notePageChanged } from "#control-plane/core/page-changes.ts";
import { namesOf } from "#control-plane/outages/state/summary.ts";
import { createPageRows } from "#control-plane/public/status-pages/document-rows.ts";
import { createServedDomains } from "#control-plane/public/status-pages/domains/served.ts";
import { releaseAll } from "#control-plane/public/status-pages/domains/store.ts";
import { startVerification } from "#control-plane/public/status-pages/domains/verification.ts";
import type { OverallStatus, PageView } from "#control-plane/public/status-pages/page.ts";
import { contentOf, toDataUri } from "#control-plane/public/status-pages/logos/logo.ts";
import { findLogo, listLogos } from "#control-plane/public/status-pages/logos/store.ts";
import { lookOf } from "#control-plane/public/status-pages/look.ts";
import { createPageUrls } from "#control-plane/public/status-pages/page-url.ts";
import { createSeenPages, type SeenPages } from "#control-plane/public/status-pages/read/seen-pages.ts";
import { buildView, readOverall } from "#control-plane/public/status-pages/read/build-page.ts";
import type { Given, ShownPage } from "#control-plane/public/status-pages/settings/resource.ts";
import type { StatusPage } from "#control-plane/public/status-pages/settings/page-settings.ts";
import { showPage } from "#control-plane/public/status-pages/show-page.ts";
import { countPages, findOwned, findPage, listPages } from "#control-plane/public/status-pages/store.ts";
import {
  changePage,
  createPage,
  draftPage,
  MOST_PAGES,
  removePage,
  type WrittenPage,
} from "#control-plane/public/status-pages/writes.ts";
import type { Teardown } from "#control-plane/core/teardown.ts";

/** A page of an account. */
interface OwnPage {
  readonly accountId: number;
  readonly id: number;
}

/** Status pages. Writes belong to the caller's transaction, which a refusal rolls back. */
export interface StatusPages extends SeenPages {
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
  /** Returns the logo of a page as a data URI; null if it has none. */
  logoOf(sql: Queryable, page: { readonly id: number }): Promise<string | null>;
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

/**
 * Opens the status pages of one replica, and starts to verify their domains. The pages of an account are part of its data
 * export, and end with it. Rejects while the database is away.
 */
export async function openStatusPages(
  deps: Parameters<typeof createStatusPages>[0] &
    Parameters<typeof startVerification>[0] & { readonly accounts: Accounts },
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

/** Creates the status pages of one replica. `canSubscribe`: whether visitors can subscribe by mail. */
export function createStatusPages({
  sql,
  clock,
  random,
  log,
  history,
  notifications,
  baseUrl,
  canSubscribe,
  timers,
}: Pick<App, "sql" | "clock" | "random" | "log" | "timers"> & {
  readonly history: Parameters<typeof buildView>[0]["history"];
  readonly notifications: Notifications;
  readonly baseUrl: string;
  readonly canSubscribe: boolean;
}): StatusPages {
  const { hostname } = new URL(baseUrl);
  const urlOf = createPageUrls(baseUrl);
  const viewDeps = { sql, clock, history, urlOf, canSubscribe };
  const writeDeps = { clock, random, ownHost: hostname };
  const domains = createServedDomains({ sql, log, timers, ownHost: hostname });

  const seen = createSeenPages({ ...viewDeps, notifications, onAddressesChanged: () => domains.changed() });

  async function showAll(
    on: Queryable,
    accountId: number,
    pages: readonly StatusPage[],
  ): Promise<readonly ShownPage[]> {
    const ids = new Set(pages.flatMap(({ monitors }) => monitors.map(({ id }) => id)));
    const names = await namesOf(on, accountId, [...ids]);
    return pages.map((page) => showPage(page, names, urlOf(page)));
  }

  /** Returns the logo of a page that is not saved, which has no address, as a data URI; null if it has none. */
  async function previewLogo({ id, logo }: StatusPage, given: Given["logo"]): Promise<string | null> {
    if (logo === null) return null;
    if (typeof given === "string") return toDataUri(logo.type, contentOf(given));
    return logoOf(sql, { id });
  }

  async function logoOf(on: Queryable, { id }: { readonly id: number }): Promise<string | null> {
    const found = await findLogo(on, id);
    return found === null ? null : toDataUri(found.type, found.content);
  }

  return {
    ...seen,
    slugOfDomain: (field) => domains.slugOf(field),
    create: (tx, accountId, given) => createPage(writeDeps, tx, accountId, given),
    change: (tx, page, given) => changePage(writeDeps, tx, page, given),
    remove: (tx, page) => removePage(writeDeps, tx, page),
    async preview(accountId, id, given) {
      const draft = await draftPage(writeDeps, sql, { accountId, id }, given);
      if (!draft.ok) return draft;
      const view = await buildView(viewDeps, draft.value);
      return { ok: true, value: { ...view, ...lookOf(draft.value, await previewLogo(draft.value, given.logo)) } };
    },
    statuses: (accountId, pages) => readOverall(sql, accountId, pages, clock.now()),
    async find(on, { accountId, id }) {
      const page = await findPage(on, accountId, id);
      return page === null ? null : ((await showAll(on, accountId, [page]))[0] ?? null);
    },
    logoOf,
    async list(accountId, limits) {
      const [pages, total] = await Promise.all([listPages(sql, accountId, limits), countPages(sql, accountId)]);
      return { pages: await showAll(sql, accountId, pages), total };
    },
    owned: findOwned,
    rows: createPageRows(writeDeps),
    async export(on, accountId) {
      const pages = await listPages(on, accountId, { limit: MOST_PAGES, offset: 0 });
      const logos = await listLogos(on, accountId);
      const shown = await showAll(on, accountId, pages);
      return shown.map((page) => {
        const logo = logos.get(page.id);
        return { ...page, logo: logo === undefined ? null : toDataUri(logo.type, logo.content) };
      });
    },
    async accountErased(tx, accountId) {
      await releaseAll(tx, accountId, clock.now());
      await notePageChanged(tx, accountId);
    },
    start: () => domains.read(),
    close: () => domains.close(),
  };
}
