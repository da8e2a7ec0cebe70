import type { Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";
import type { ExpiryKind } from "#control-plane/outages/kinds/expiring.ts";

/** A monitor that was changed since its links were made. */
interface UnlinkedMonitor {
  readonly id: number;
  readonly accountId: number;
  readonly url: string;
  readonly checkType: CheckType;
  /** JSON of MonitorSettings. */
  readonly settings: string;
}

/** A link to make. */
interface WantedLink {
  readonly monitorId: number;
  readonly kind: ExpiryKind;
  readonly target: string;
  readonly scope: number;
  /** Top-level domain of a domain. */
  readonly registry: string | null;
}

/**
 * Locks monitors that were changed since their links were made, with their accounts. Those that other replicas have
 * locked are left out, and those of accounts that are being erased.
 */
export async function lockUnlinked(tx: Transaction, most: number): Promise<readonly UnlinkedMonitor[]> {
  return tx<UnlinkedMonitor[]>`
    select m.id, m.account_id as "accountId", m.url, m.check_type as "checkType", m.settings
    from monitors as m join accounts as a on a.id = m.account_id
    where m.linked_version is distinct from m.version order by m.id limit ${most}
    for no key update of m skip locked for key share of a skip locked`;
}

/** Makes the links of locked monitors those that are wanted. Targets with a changed monitor are due for a sweep. */
export async function replaceLinks(
  tx: Transaction,
  monitorIds: readonly number[],
  links: readonly WantedLink[],
  now: Date,
): Promise<void> {
  const wanted = given(
    tx,
    links.map((link) => ({ ...link, registry: link.registry ?? "" })),
    { monitorId: "bigint", kind: "text", target: "text", scope: "bigint", registry: "text" },
  );
  // In one order, so that two replicas cannot deadlock.
  await tx`
    insert into expiry_registries (registry)
    select distinct registry from ${wanted} where registry <> '' order by registry on conflict do nothing`;
  // A domain belongs to the service of its top-level domain, as far as that is known.
  await tx`
    insert into expiry_targets as t (kind, target, scope, registry, next_at, look_at)
    select distinct given.kind, given.target, given.scope, coalesce(r.served_by, r.registry), ${now}::timestamptz,
      ${now}::timestamptz
    from ${wanted} left join expiry_registries as r on r.registry = given.registry
    order by given.kind, given.target, given.scope
    on conflict (kind, target, scope) do update
    set next_at = least(t.next_at, excluded.next_at), notice_at = least(t.notice_at, excluded.next_at)`;
  await tx`
    delete from expiry_links as l where l.monitor_id = any(${[...monitorIds]}::bigint[])
      and not exists (select from ${wanted} where given.monitor_id = l.monitor_id and given.kind = l.kind)`;
  await tx`
    insert into expiry_links as l (monitor_id, kind, target_id)
    select given.monitor_id, given.kind, t.id
    from ${wanted} join expiry_targets as t using (kind, target, scope) order by given.monitor_id, given.kind
    on conflict (monitor_id, kind) do update set target_id = excluded.target_id, memory = '[]'
      where l.target_id <> excluded.target_id`;
  await tx`update monitors set linked_version = version where id = any(${[...monitorIds]}::bigint[])`;
}

/** Deletes what is kept for the private probes of an account alone, when it is erased. */
export async function deleteScope(tx: Transaction, accountId: number): Promise<void> {
  await tx`delete from expiry_links where target_id in (select id from expiry_targets where scope = ${accountId})`;
  await tx`delete from expiry_targets where scope = ${accountId}`;
}
