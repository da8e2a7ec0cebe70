import type { Sql } from "#control-plane/core/database/connect.ts";

/** A claim of a registry: for one question. */
interface RegistryClaim {
  readonly registry: string;
  readonly lease: number;
}

/** Ends the claim of a registry that answered, or that was not asked. `hasAnswered` ends its pauses. */
export async function releaseRegistry(
  sql: Sql,
  { registry, lease }: RegistryClaim,
  hasAnswered: boolean,
): Promise<void> {
  await sql`
    update expiry_registries
    set lease = 0, lease_ends_at = null, refusals = case when ${hasAnswered}::boolean then 0 else refusals end,
      paused_until = case when ${hasAnswered}::boolean then null else paused_until end
    where registry = ${registry} and lease = ${lease}`;
}

/** Reads how many questions in a row a registry refused or did not answer. */
export async function readRefusals(sql: Sql, registry: string): Promise<number> {
  const [row] = await sql<{ refusals: number }[]>`select refusals from expiry_registries where registry = ${registry}`;
  return row?.refusals ?? 0;
}

/** Ends the claim of a registry and pauses it. Does nothing if the claim was lost. */
export async function pauseRegistry(
  sql: Sql,
  { registry, lease }: RegistryClaim,
  { refusals, until }: { readonly refusals: number; readonly until: Date },
): Promise<void> {
  await sql`
    update expiry_registries set lease = 0, lease_ends_at = null, refusals = ${refusals}, paused_until = ${until}
    where registry = ${registry} and lease = ${lease}`;
}

/**
 * Notes that a service answers for a top-level domain: this target belongs to it from now on, and those of which only the
 * top-level domain was known. Targets that others have locked follow with their next answer.
 */
export async function adoptService(
  sql: Sql,
  { topLevel, service, targetId }: { readonly topLevel: string; readonly service: string; readonly targetId: number },
): Promise<void> {
  await sql`insert into expiry_registries (registry) values (${service}) on conflict do nothing`;
  await sql`
    update expiry_registries set served_by = ${service}
    where registry = ${topLevel} and served_by is distinct from ${service}`;
  await sql`
    update expiry_targets set registry = ${service} where id in (
      select id from expiry_targets where kind = 'domain' and (registry = ${topLevel} or id = ${targetId})
      for update skip locked
    )`;
}
