import type { CheckContext } from "#control-plane/checks/context.ts";
import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { deleteScope, lockUnlinked, replaceLinks } from "#control-plane/watching/expiry/links/store.ts";
import { topLevelOf } from "#control-plane/watching/expiry/links/targets.ts";
import { contractOf, kindOf, optionsOf } from "#control-plane/outages/kinds/kinds.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import { matches } from "#shared/internet/locations.ts";
import { decideTarget } from "#control-plane/checks/target.ts";
import type { ExpiringTarget } from "#control-plane/outages/kinds/expiring.ts";
import { readLocation } from "#control-plane/watching/checking/watch/served.ts";

/** Monitors whose targets any shared probe can look at. */
const SHARED = 0;

/**
 * Decides who can look at the target of a monitor: any shared probe (0), or only the private probes of its account. A
 * monitor that only private probes check can have a target that others see differently.
 */
function scopeOf(
  { hub }: Pick<CheckContext, "hub">,
  { accountId, locations }: { readonly accountId: number; readonly locations: readonly string[] },
  { kind, host }: ExpiringTarget,
): number {
  if (kind === "domain") return SHARED;
  const { sharedRules, list } = hub.roster.candidates(accountId);
  const contract = contractOf("ssl");
  if (!decideTarget(contract, { host }, sharedRules).ok) return accountId;
  const servedBy = locations.flatMap((location) => {
    const items = readLocation(location) ?? [];
    return list.filter((candidate) => items.some((item) => item.kind !== "remove" && matches(candidate, item)));
  });
  const isPrivate = servedBy.length > 0 && servedBy.every((candidate) => candidate.accountId !== null);
  return isPrivate ? accountId : SHARED;
}

/** Maximum number of monitors of one transaction. */
const MOST_AT_ONCE = 500;

/**
 * Makes the links of monitors follow every change of their records. Several replicas share the work. Returns
 * when none is left, or those that are left belong to another replica.
 */
export async function linkMonitors(
  sql: Sql,
  checks: Pick<CheckContext, "hub">,
  now: () => Date,
  isStopped: () => boolean,
): Promise<void> {
  for (;;) {
    if (isStopped()) return;
    const count = await transact(sql, async (tx) => {
      const monitors = await lockUnlinked(tx, MOST_AT_ONCE);
      if (monitors.length === 0) return 0;
      const links = monitors.flatMap(({ id, accountId, url, checkType, settings: text }) => {
        const settings = readStoredSettings(text);
        const { locations } = settings;
        return kindOf(checkType)
          .expires(url, settings, optionsOf(checkType, settings))
          .map((watched) => ({
            monitorId: id,
            kind: watched.kind,
            target: watched.target,
            scope: scopeOf(checks, { accountId, locations }, watched),
            registry: watched.kind === "domain" ? topLevelOf(watched.target) : null,
          }));
      });
      await replaceLinks(
        tx,
        monitors.map(({ id }) => id),
        links,
        now(),
      );
      return monitors.length;
    });
    if (count < MOST_AT_ONCE) return;
  }
}

/** Deletes what only the private probes of an account look at. Call it in the transaction that erases the account. */
export async function eraseTargets(sql: Queryable, accountId: number): Promise<void> {
  await deleteScope(sql as Transaction, accountId);
}
