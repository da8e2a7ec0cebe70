import type { App } from "#control-plane/core/app.ts";
import type { RecordChanges } from "#control-plane/http/access/changes.ts";
import { secretChange } from "#control-plane/http/access/diff-resource.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { Devices } from "#control-plane/people/users/devices.ts";
import type { Failures } from "#control-plane/people/users/failures.ts";
import { deleteResets } from "#control-plane/people/users/links/store.ts";
import { recordEverywhere } from "#control-plane/people/users/own-changes.ts";
import type { Passwords } from "#control-plane/people/users/passwords.ts";
import type { Client, Session, Sessions } from "#control-plane/people/users/sessions.ts";
import { findUserByEmail, listMemberships, updateUser, type User } from "#control-plane/people/users/store.ts";

/** Email address and password, as typed. */
interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The result where so many passwords are checked at this moment that another one is refused. */
export const BUSY = { kind: "busy" } as const;

/** Why a password was not accepted. wrong: no user has this address and password. busy: too many others sign in. */
export type Unproven =
  | { readonly kind: "wrong" | "busy" }
  | { readonly kind: "limited"; readonly retryAfterSeconds: number };

/** Result of a sign-in. homeless: the user is a member of no account. */
export type SignIn = { readonly kind: "ok"; readonly token: string } | { readonly kind: "homeless" } | Unproven;

/** Dependencies of a sign-in. */
interface SignInDeps extends Pick<App, "sql" | "clock"> {
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly devices: Devices;
  readonly failures: Failures;
  /** Logs changes. */
  readonly record: RecordChanges;
}

/** Finds the user with an address and password. Unknown addresses are limited as known ones are, and take as long. */
export async function provePassword(
  { sql, passwords, failures }: Pick<SignInDeps, "sql" | "passwords" | "failures">,
  { email, password }: Credentials,
  from: Client,
): Promise<{ readonly kind: "ok"; readonly user: User } | Unproven> {
  const user = await findUserByEmail(sql, email);
  const attempt = await failures.begin(email, user, from);
  if (!attempt.ok) return { kind: "limited", retryAfterSeconds: attempt.retryAfterSeconds };
  const isRight = await passwords.verify(user?.passwordHash ?? null, password, from);
  const isProven = isRight === true && user !== null;
  if (isProven || isRight === null) await attempt.forget();
  if (isRight === null) return BUSY;
  return isProven ? { kind: "ok", user } : { kind: "wrong" };
}

/** Signs a user in, to the oldest of the user's accounts. */
export async function signIn(deps: SignInDeps, credentials: Credentials, from: Client): Promise<SignIn> {
  const proven = await provePassword(deps, credentials, from);
  if (proven.kind !== "ok") return proven;
  const { user } = proven;
  return transact(deps.sql, async (tx) => {
    const [membership] = await listMemberships(tx, user.id);
    if (membership === undefined) return { kind: "homeless" };
    const { accountId } = membership;
    const token = await deps.sessions.open(tx, { userId: user.id, accountId }, from);
    return token === null ? { kind: "homeless" } : { kind: "ok", token };
  });
}

/**
 * Proves the password of a session's user again, and opens a new session in its place, so that a copy of the old cookie
 * gains nothing. Returns the value of the new cookie with its session.
 */
export async function confirmPassword(
  deps: SignInDeps,
  { userId, accountId, email }: Session,
  old: string,
  password: string,
  from: Client,
): Promise<{ readonly kind: "ok"; readonly token: string; readonly session: Session } | Unproven> {
  const { sql, sessions } = deps;
  const proven = await provePassword(deps, { email, password }, from);
  if (proven.kind !== "ok") return proven;
  const token = await transact(sql, async (tx) => {
    await sessions.end(tx, old);
    return sessions.open(tx, { userId, accountId }, from);
  });
  const session = token === null ? null : await sessions.find(token);
  // It was ended at this moment, as by a change of the role.
  return token === null || session === null ? { kind: "wrong" } : { kind: "ok", token, session };
}

/**
 * Sets a new password of a session's user, who proves the current one; wrong ones are limited as sign-ins are. All sessions,
 * devices and links of the old password end. Returns the value of the cookie of the one that takes their place.
 */
export async function changePassword(
  deps: SignInDeps,
  { userId, accountId, email }: Session,
  { current, next }: { readonly current: string; readonly next: string },
  from: Client,
): Promise<{ readonly kind: "ok"; readonly token: string } | Unproven> {
  const proven = await provePassword(deps, { email, password: current }, from);
  if (proven.kind !== "ok") return proven;
  const passwordHash = await deps.passwords.hash(next, from);
  if (passwordHash === null) return BUSY;
  return transact(deps.sql, async (tx) => {
    await updateUser(tx, userId, { passwordHash }, deps.clock.now());
    await deps.sessions.endOf(tx, userId);
    await deps.devices.end(tx, userId);
    await deleteResets(tx, userId);
    await recordEverywhere(deps.record, tx, { user: { id: userId, email }, from }, [secretChange("password")]);
    const token = await deps.sessions.open(tx, { userId, accountId }, from);
    // Removed from the account at this moment.
    return token === null ? { kind: "wrong" } : { kind: "ok", token };
  });
}
