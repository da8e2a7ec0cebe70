import { transact } from "#control-plane/database/transaction.ts";
import type { LinksDeps } from "#control-plane/users/links.ts";
import type { Client, Session } from "#control-plane/users/sessions.ts";
import { provePassword, type Unproven } from "#control-plane/users/sign-in.ts";
import { deleteResets } from "#control-plane/users/link-store.ts";
import { updateUser } from "#control-plane/users/store.ts";

/**
 * Sets a new password of a session's user, who proves the current one; wrong ones are limited as sign-ins are. All sessions
 * and links of the old password end. Returns the value of the cookie of the one that takes their place.
 */
export async function changePassword(
  deps: Pick<LinksDeps, "sql" | "clock" | "passwords" | "sessions">,
  { userId, accountId, email }: Session,
  { current, next }: { readonly current: string; readonly next: string },
  from: Client,
): Promise<{ readonly kind: "ok"; readonly token: string } | Unproven> {
  const proven = await provePassword(deps, { email, password: current }, from);
  if (proven.kind !== "ok") return proven;
  const passwordHash = await deps.passwords.hash(next);
  return transact(deps.sql, async (tx) => {
    await updateUser(tx, userId, { passwordHash }, deps.clock.now());
    await deps.sessions.endOf(tx, userId);
    await deleteResets(tx, userId);
    return { kind: "ok", token: await deps.sessions.open(tx, { userId, accountId }, from) };
  });
}
