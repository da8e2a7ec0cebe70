import type { Queryable } from "#control-plane/core/database/connect.ts";

/** Reports whether any monitor or heartbeat is active, or anything else becomes due before a time. */
export async function isAnythingDue(sql: Queryable, before: Date): Promise<boolean> {
  const [row] = await sql<{ isDue: boolean }[]>`
    select exists (select from monitors where is_active)
      or exists (select from deliveries where status in ('pending', 'retrying'))
      or exists (select from requested_mails where sealed is not null and due_at < ${before})
      or exists (select from status_pages where domain_due_at < ${before})
      or exists (select from status_pages where domain_state = 'verified' and domain_recheck_at < ${before})
      or exists (select from pgboss.job where state < 'completed') as "isDue"`;
  return row?.isDue ?? true;
}
