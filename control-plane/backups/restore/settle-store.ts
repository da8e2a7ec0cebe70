import type { Transaction } from "#control-plane/core/database/connect.ts";
import { COPY_FACT } from "#control-plane/core/secrets/installation.ts";

/**
 * Ends what was under way when the backup was made: whether it was sent or done since then is not known, and nothing is sent
 * or done twice. Jobs are not in a backup, so that no run of before can go on.
 */
export async function endOpenWork(tx: Transaction): Promise<{ readonly deliveries: number }> {
  const { count } = await tx`
    update deliveries set status = 'failed', is_leased = false, is_ready = false, due_at = null, next_attempt_at = null,
      error_code = 'restored',
      error_message = 'The service was restored from a backup. Whether this was sent since then is not known.'
    where status in ('pending', 'retrying')`;
  await tx`
    update delivery_attempts set ended_at = greatest(started_at, now()), error_code = 'restored' where ended_at is null`;
  await tx`update batches set status = 'failed', finished_at = now() where finished_at is null`;
  await tx`update measurements set status = 'failed', finished_at = now() where finished_at is null`;
  // Tokens that let one agent in: a used one must not become good again.
  await tx`delete from join_tokens where not reusable`;
  return { deliveries: count };
}

/** Makes the database that of another installation, which sends nothing and has no agents of the first one. */
export async function makeCopy(tx: Transaction, installation: string): Promise<void> {
  await tx`
    insert into instance (name, value) values
      ('installation', ${Buffer.from(installation)}), (${COPY_FACT}, ${Buffer.from("1")})
    on conflict (name) do update set value = excluded.value`;
  await tx`update webhooks set is_active = false, inactive_reason = null`;
  await tx`update probes set enabled = false`;
}
