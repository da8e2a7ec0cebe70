import { secretChange } from "#control-plane/access/diff-shown.ts";
import { EXPIRED, peekLink, useLink, type LinksDeps, type UsedLink } from "#control-plane/users/links/links.ts";
import { deleteResets } from "#control-plane/users/links/store.ts";
import { recordEverywhere } from "#control-plane/users/own-changes.ts";
import type { Client } from "#control-plane/users/sessions.ts";
import { BUSY } from "#control-plane/users/sign-in.ts";
import { findUser, listMemberships, updateUser } from "#control-plane/users/store.ts";

/** Sets a new password by a reset link, ends all sessions and devices of the user and signs in. */
export async function useResetLink(deps: LinksDeps, token: string, password: string, from: Client): Promise<UsedLink> {
  if ((await peekLink(deps, "reset", token)) === null) return EXPIRED;
  const passwordHash = await deps.passwords.hash(password);
  if (passwordHash === null) return BUSY;
  return useLink(deps, "reset", token, async (tx, { userId }): Promise<UsedLink> => {
    const user = userId === null ? null : await findUser(tx, userId);
    const [membership] = user === null ? [] : await listMemberships(tx, user.id);
    if (user === null || membership === undefined) return EXPIRED;
    await updateUser(tx, user.id, { passwordHash }, deps.clock.now());
    await deps.sessions.endOf(tx, user.id);
    await deps.devices.end(tx, user.id);
    // Links of other mails were for the old password.
    await deleteResets(tx, user.id);
    await recordEverywhere(deps.record, tx, { user, from }, [secretChange("password")]);
    const { accountId } = membership;
    const opened = await deps.sessions.open(tx, { userId: user.id, accountId }, from);
    return opened === null ? EXPIRED : { kind: "ok", token: opened, userId: user.id, accountId };
  });
}
