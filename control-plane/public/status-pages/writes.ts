import { hasErrorCode } from "#shared/contracts/error-code.ts";
import { refuse, type Read } from "#shared/schema/problem.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Change } from "#control-plane/http/access/changes.ts";
import { UNIQUE_VIOLATION } from "#control-plane/core/database/codes.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { refuseAbsent, refuseGone, refuseProblem, refuseWrite, type Written } from "#control-plane/http/written.ts";
import { randomBase62 } from "#control-plane/accounts/keys/format.ts";
import { namesOf } from "#control-plane/outages/state/summary.ts";
import { notePageChanged } from "#control-plane/core/page-changes.ts";
import { HELD_MS } from "#control-plane/public/status-pages/domains/record.ts";
import { findRelease, releaseDomain } from "#control-plane/public/status-pages/domains/store.ts";
import { contentOf, type PageLogo } from "#control-plane/public/status-pages/logos/logo.ts";
import { replaceLogo } from "#control-plane/public/status-pages/logos/store.ts";
import type { Given } from "#control-plane/public/status-pages/settings/resource.ts";
import type { PageSettings, StatusPage } from "#control-plane/public/status-pages/settings/page-settings.ts";
import { readSettings } from "#control-plane/public/status-pages/settings/read-settings.ts";
import { changedOf } from "#control-plane/public/status-pages/show-page.ts";
import { deletePage, findPage, insertPage, lockAccount, updatePage } from "#control-plane/public/status-pages/store.ts";

/** Maximum number of pages of an account. */
export const MOST_PAGES = 50;

/** A page that was written, for the log of changes. */
export interface WrittenPage {
  readonly id: number;
  readonly change: Change;
}

/** Creates a page. */
export async function createPage(
  { clock, random, ownHost }: Pick<App, "clock" | "random"> & { readonly ownHost: string },
  tx: Transaction,
  accountId: number,
  given: Given,
): Promise<Written<WrittenPage>> {
  const read = readSettings(given, null, ownHost);
  if (!read.ok) return refuseProblem(read.problem);
  const account = await lockAccount(tx, accountId);
  if (account === null) return refuseGone();
  if (account.pages >= MOST_PAGES) {
    const message = `You have ${MOST_PAGES} status pages, the limit. Delete one first.`;
    return refuseWrite({ code: "plan_limit_exceeded", field: "status_pages", message });
  }
  const vetted = await vetMonitors(tx, accountId, read.value, null);
  if (!vetted.ok) return refuseProblem(vetted.problem);
  const { settings } = vetted.value;
  return unlessInUse(settings, async () => {
    const now = clock.now();
    const domainToken = randomBase62(random, TOKEN_LENGTH);
    const id = await insertPage(tx, accountId, settings, { now, domainToken });
    await writeLogo(tx, id, { given, logo: settings.logo, current: null });
    await notePageChanged(tx, accountId);
    const change = { resource: "status_page", id, name: settings.slug, action: "created" } as const;
    return unlessHeld(tx, accountId, settings.domain, now, { ok: true, value: { id, change } });
  });
}

/** Changes a page. */
export async function changePage(
  { clock, ownHost }: Pick<App, "clock"> & { readonly ownHost: string },
  tx: Transaction,
  { accountId, id }: { readonly accountId: number; readonly id: number },
  given: Given,
): Promise<Written<WrittenPage>> {
  if ((await lockAccount(tx, accountId)) === null) return refuseGone();
  const current = await findPage(tx, accountId, id);
  if (current === null) return refuseAbsent("status page");
  const read = readSettings(given, current, ownHost);
  if (!read.ok) return refuseProblem(read.problem);
  const vetted = await vetMonitors(tx, accountId, read.value, current);
  if (!vetted.ok) return refuseProblem(vetted.problem);
  const { settings, names } = vetted.value;
  return unlessInUse(settings, async () => {
    const now = clock.now();
    const { domain, slug: name } = settings;
    await releaseDomain(tx, { accountId, id }, domain, now);
    await updatePage(tx, id, settings, { now, asksDomain: given.domain !== undefined });
    await writeLogo(tx, id, { given, logo: settings.logo, current: current.logo });
    await notePageChanged(tx, accountId);
    const changed = changedOf(current, { ...current, ...settings }, names);
    const change = { resource: "status_page", id, name, action: "changed", changed } as const;
    const written = { ok: true, value: { id, change } } as const;
    return domain === current.domain ? written : unlessHeld(tx, accountId, domain, now, written);
  });
}

/**
 * Returns a page as a write of these fields would leave it, without a write. `id`: null for a new page, which has the id 0.
 * Whether the slug is in use is not looked up.
 */
export async function draftPage(
  { clock, ownHost }: Pick<App, "clock"> & { readonly ownHost: string },
  sql: Queryable,
  { accountId, id }: { readonly accountId: number; readonly id: number | null },
  given: Given,
): Promise<Written<StatusPage>> {
  const current = id === null ? null : await findPage(sql, accountId, id);
  if (id !== null && current === null) return refuseAbsent("status page");
  const read = readSettings(given, current, ownHost);
  if (!read.ok) return refuseProblem(read.problem);
  const vetted = await vetMonitors(sql, accountId, read.value, current);
  if (!vetted.ok) return refuseProblem(vetted.problem);
  const now = clock.now();
  const first = {
    id: 0,
    accountId,
    domainState: null,
    domainToken: "",
    domainMissingSince: null,
    isDomainTaken: false,
    createdAt: now,
  };
  return { ok: true, value: { ...first, ...current, ...vetted.value.settings, updatedAt: now } };
}

/** Deletes a page. */
export async function removePage(
  { clock }: Pick<App, "clock">,
  tx: Transaction,
  { accountId, id }: { readonly accountId: number; readonly id: number },
): Promise<Written<WrittenPage>> {
  if ((await lockAccount(tx, accountId)) === null) return refuseGone();
  await notePageChanged(tx, accountId);
  await releaseDomain(tx, { accountId, id }, null, clock.now());
  const name = await deletePage(tx, accountId, id);
  if (name === null) return refuseAbsent("status page");
  return { ok: true, value: { id, change: { resource: "status_page", id, name, action: "deleted" } } };
}

/**
 * Finds the first monitor that is not the account's. A name that equals the monitor's is not stored: answers show it
 * where none is set, so an answer that is sent back still follows the monitor. `names` are those of the monitors that the
 * page shows or has shown.
 */
async function vetMonitors(
  sql: Queryable,
  accountId: number,
  settings: PageSettings,
  current: PageSettings | null,
): Promise<Read<{ readonly settings: PageSettings; readonly names: ReadonlyMap<number, string> }>> {
  const { monitors } = settings;
  const all = [...monitors, ...(current?.monitors ?? [])].map(({ id }) => id);
  const names = await namesOf(sql, accountId, [...new Set(all)]);
  const unknown = monitors.findIndex(({ id }) => !names.has(id));
  if (unknown >= 0) {
    return refuse(`monitors.${unknown}.id`, "unknown", "no monitor of your account has this id");
  }
  const followed = monitors.map(({ id, name }) => ({ id, name: name === names.get(id) ? null : name }));
  return { ok: true, value: { settings: { ...settings, monitors: followed }, names } };
}

/** Stores the logo of a page if a write has another one. `logo`: what was read of it; `current`: that of before. */
async function writeLogo(
  tx: Transaction,
  pageId: number,
  {
    given,
    logo,
    current,
  }: { readonly given: Given; readonly logo: PageLogo | null; readonly current: PageLogo | null },
): Promise<void> {
  if (typeof given.logo === "string" && logo !== null && logo.hash !== current?.hash) {
    await replaceLogo(tx, pageId, { ...logo, content: contentOf(given.logo) });
  } else if (logo === null && current !== null) await replaceLogo(tx, pageId, null);
}

/** Runs a write; refuses a slug of another page. The transaction is unusable then. */
async function unlessInUse<T>({ slug }: PageSettings, write: () => Promise<Written<T>>): Promise<Written<T>> {
  try {
    return await write();
  } catch (error) {
    if (!hasErrorCode(error, UNIQUE_VIOLATION)) throw error;
    return refuseProblem({ field: "slug", reason: "duplicate", message: `another status page has the slug ${slug}` });
  }
}

/** Refuses a domain that another account gave up shortly before. */
async function unlessHeld<T>(
  tx: Transaction,
  accountId: number,
  domain: string | null,
  now: Date,
  written: Written<T>,
): Promise<Written<T>> {
  if (domain === null) return written;
  const releasedAt = await findRelease(tx, { accountId, domain }, new Date(now.getTime() - HELD_MS));
  if (releasedAt === null) return written;
  const free = new Date(releasedAt.getTime() + HELD_MS).toISOString();
  const message = `another account had the domain ${domain} until recently; you can use it from ${free} on`;
  return refuseProblem({ field: "domain", reason: "duplicate", message });
}

/** Length of the token in the record of a page's domain, in base62 characters. */
const TOKEN_LENGTH = 32;
