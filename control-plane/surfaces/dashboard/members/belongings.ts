import type { Change } from "#control-plane/http/access/changes.ts";
import type { Form } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { renderCheck } from "#control-plane/surfaces/dashboard/layout/choices.ts";
import { renderHidden } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { formatLocal } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { UNNAMED_KEY, UNUSED_KEY } from "#control-plane/surfaces/dashboard/keys.ts";
import { inviteeOf, ROLE_NAMES } from "#control-plane/surfaces/dashboard/members/page.ts";
import type { KeyEntry } from "#control-plane/accounts/keys/keys.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { AlsoDone, ListedMember } from "#control-plane/people/users/members.ts";
import { rolesAbove, type Role } from "#control-plane/people/users/roles.ts";
import type { Session } from "#control-plane/people/users/sessions.ts";
import type { Invite } from "#control-plane/people/users/users.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

/** What a member has made in the account, and gets from it. */
interface Belongings {
  readonly keys: readonly KeyEntry[];
  /** Names of the monitors that have the member's address in their notify_emails. */
  readonly monitors: readonly string[];
  /** Open invites of the member that end. */
  readonly invites: readonly Invite[];
}

/** More keys than a form has fields for. */
const MOST_KEYS = 400;
const MOST_NAMES = 20;
/** Values of the fields: of a key, and of the address in notify_emails. */
const valueOf = (keyId: number): string => `key-${keyId}`;
const ADDRESS = "address";

/** Reads what belongs to a member. `next`: the role that the member keeps; null: none. */
export async function readBelongings(
  { sql, keys, monitors, users }: Dashboard,
  accountId: number,
  { userId, email }: ListedMember,
  next: Role | null,
): Promise<Belongings> {
  const [made, mailed, open] = await Promise.all([
    keys.list({ accountId, madeBy: userId }, MOST_KEYS, 0),
    monitors.mailedTo(accountId, email),
    users.invites(sql, accountId),
  ]);
  const lost = rolesAbove(next);
  const invites = open.filter(({ madeBy, role }) => madeBy === userId && role !== null && lost.includes(role));
  return { keys: made.keys, monitors: mailed.map(({ name }) => name), invites };
}

/** Reports whether there is anything that a member leaves behind or loses. */
export function hasAny({ keys, monitors, invites }: Belongings): boolean {
  return keys.length + monitors.length + invites.length > 0;
}

/** Renders what belongs to a member as parts of a form: what ends with it, and what can. */
export function renderBelongings(
  { keys, monitors, invites }: Belongings,
  { email }: Pick<ListedMember, "email">,
  { timezone }: Pick<Session, "timezone">,
  isTicked: boolean,
): Html {
  const check = (value: string, label: string): Html =>
    html`${renderHidden("shown", value)}${renderCheck({ name: "end", value, label, isOn: isTicked })}`;
  return html`
    ${invites.length > 0 && html`<div><p>These open invites end:</p><ul>${invites.map((one) => html`<li>${inviteeOf(one)}, ${ROLE_NAMES[one.role ?? "viewer"]}</li>`)}</ul></div>`}
    ${keys.length > 0 && html`<fieldset class="field"><legend>API keys to revoke</legend>${keys.map((key) => check(valueOf(key.id), describeKey(key, timezone)))}</fieldset>`}
    ${monitors.length > 0 && html`<fieldset class="field"><legend>Mail about monitors</legend>${check(ADDRESS, describeMail(email, monitors))}</fieldset>`}`;
}

function describeKey({ name, prefix, usedAt }: KeyEntry, timezone: string): string {
  const used = usedAt === null ? UNUSED_KEY : `last used ${formatLocal(usedAt, timezone)}`;
  return `${name ?? UNNAMED_KEY} (${prefix}...), ${used}`;
}

function describeMail(email: string, monitors: readonly string[]): string {
  const names = monitors.slice(0, MOST_NAMES).join(", ");
  const others = monitors.length > MOST_NAMES ? ` and ${monitors.length - MOST_NAMES} more` : "";
  return (
    `Take ${email} out of notify_emails of ${names}${others}. ` +
    "A monitor that mails to nobody else then mails to the address of the account."
  );
}

/**
 * Returns what ends by a form, for the transaction that changes the member. What the form has not shown, such as a key of a
 * moment ago, goes with a member who is removed, and stays with one who is not.
 */
export function endBelongings(
  { keys, monitors }: Dashboard,
  accountId: number,
  { userId, email }: ListedMember,
  form: Form,
  isRemoval: boolean,
): AlsoDone {
  const [shown, ticked] = [new Set(form.list("shown")), new Set(form.list("end"))];
  const ends = (value: string): boolean => ticked.has(value) || (isRemoval && !shown.has(value));
  return async (tx) => {
    const revoked = await keys.revokeOf(tx, { accountId, madeBy: userId }, (id) => ends(valueOf(id)));
    const left = ends(ADDRESS) ? await monitors.leave(tx, accountId, email) : [];
    return [
      ...revoked.map(({ id, name }): Change => ({ resource: "key", id, name, action: "deleted" })),
      ...left.map((one) => changeOf(one, "changed", one.changed)),
    ];
  };
}
