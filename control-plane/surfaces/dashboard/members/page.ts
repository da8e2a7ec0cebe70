import { renderForm, renderHidden, renderInput, renderNote } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { formatLocal } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { renderOption } from "#control-plane/surfaces/dashboard/layout/choices.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { MailLimit } from "#control-plane/notify/mail/ledger.ts";
import { hasAddress, type ListedMember } from "#control-plane/people/users/members.ts";
import { ROLES } from "#control-plane/people/users/roles.ts";
import type { Session } from "#control-plane/people/users/sessions.ts";
import type { Invite } from "#control-plane/people/users/users.ts";

/** What the page shows, with what was typed into its form and what is wrong with it. */
export interface MembersView {
  readonly session: Session;
  readonly members: readonly ListedMember[];
  readonly invites: readonly Invite[];
  readonly canMail: boolean;
  /** A sentence about a change that was refused; null: none was. */
  readonly problem?: string | null;
  readonly typed?: { readonly email: string; readonly role: string };
  readonly emailProblem?: string | null;
}

/** What roles are called. */
export const ROLE_NAMES = { owner: "Owner", editor: "Editor", viewer: "Viewer" } as const;

/** Names who can use an invite. */
export function inviteeOf({ email }: Pick<Invite, "email">): string {
  return email ?? "anybody with the link";
}

/** Renders the members of the session's account and its open invites. */
export function renderMembersPage(view: MembersView): Html {
  const { session, members, invites, canMail, problem = null, typed, emailProblem = null } = view;
  const hint = "Only this address can use the invite. Without one, anybody who has the link can.";
  const invite = [
    renderHidden("_csrf", session.formToken),
    renderInput({
      name: "email",
      label: "Email (optional)",
      type: "email",
      value: typed?.email ?? "",
      hint: canMail ? `${hint} The invite is mailed there.` : hint,
      problem: emailProblem,
      maxLength: 254,
    }),
    html`<div class="field"><label for="f-role">Role</label><select id="f-role" name="role">${renderRoles(typed?.role ?? "viewer")}</select></div>`,
  ];
  return html`
    <h1>Members</h1>
    ${problem !== null && renderNote("bad", problem)}
    <p class="faint">An owner may do everything. An editor may change monitors, incidents and pages. A viewer may look.</p>
    <div class="scroll" role="group" tabindex="0" aria-label="Members"><table class="cards"><thead><tr>
      <th scope="col">Email</th><th scope="col">Since</th><th scope="col">Role</th><th scope="col"><span class="hidden">Action</span></th></tr></thead><tbody>
      ${members.map((one) => renderMember(one, session))}
    </tbody></table></div>
    <h2>Invite somebody</h2>
    ${renderForm("/app/members/invites", invite, "Create the invite")}
    ${invites.length > 0 && renderInvites(invites, session)}`;
}

function renderMember(member: ListedMember, { userId, timezone, formToken }: Session): Html {
  const { userId: id, email, role, createdAt, isProved } = member;
  const isYou = id === userId;
  // Who has lost the address to its owner has none to confirm.
  const isUnconfirmed = !isProved && hasAddress(member);
  return html`
    <tr><th scope="row">${email}${isYou && html` <span class="badge">you</span>`}${isUnconfirmed && html` <span class="badge">not confirmed</span>`}</th>
      <td class="date" data-label="Since">${formatLocal(createdAt, timezone)}</td>
      <td><form class="row" method="post" action="/app/members/${id}/role">${renderHidden("_csrf", formToken)}
        <div><select name="role" aria-label="Role of ${email}">${renderRoles(role)}</select></div><button>Change</button></form></td>
      <td><a class="button danger" href="/app/members/${id}/remove" aria-label="${isYou ? "Leave" : `Remove ${email}`}">${isYou ? "Leave" : "Remove"}</a></td></tr>`;
}

function renderRoles(selected: string): Html {
  return html`${ROLES.map((role) => renderOption(role, ROLE_NAMES[role], role === selected))}`;
}

function renderInvites(invites: readonly Invite[], { timezone, formToken }: Session): Html {
  return html`
    <h2>Open invites</h2>
    <div class="scroll" role="group" tabindex="0" aria-label="Open invites"><table class="cards"><thead><tr>
      <th scope="col">Email</th><th scope="col">Role</th><th scope="col">Until</th><th scope="col"><span class="hidden">Action</span></th></tr></thead><tbody>
      ${invites.map(
        (one) => html`
          <tr><th scope="row">${inviteeOf(one)}</th><td>${ROLE_NAMES[one.role ?? "viewer"]}</td>
            <td class="date" data-label="Until">${formatLocal(one.expiresAt, timezone)}</td>
            <td><form method="post" action="/app/members/invites/${one.id}/revoke">${renderHidden("_csrf", formToken)}<button aria-label="Revoke the invite for ${inviteeOf(one)}">Revoke</button></form></td></tr>`,
      )}
    </tbody></table></div>`;
}

/** Says which limit has not allowed the mail with an invite. */
export function describeLimit(limit: MailLimit): string {
  if (limit === "recipient") return "No mail was sent: this address got 3 invites in the last day.";
  return limit === "account" || limit === "invites"
    ? "No mail was sent: this account has mailed 50 addresses that have not confirmed in the last hour."
    : "No mail was sent: this service has mailed 1,000 addresses that have not confirmed in the last hour.";
}

/**
 * A new invite, whose link is shown once. `mailedTo`: the address that gets it by mail, unless a limit does not allow it;
 * null: none.
 */
interface CreatedInvite {
  readonly url: string;
  readonly expiresAt: Date;
  readonly mailedTo: string | null;
  readonly limit: MailLimit | null;
}

/** Renders a new invite. */
export function renderCreatedInvite(
  { url, expiresAt, mailedTo, limit }: CreatedInvite,
  { timezone }: Pick<Session, "timezone">,
): Html {
  const sent =
    limit === null
      ? `It is mailed to ${mailedTo}, too.`
      : `${describeLimit(limit)} Give the link to its owner yourself.`;
  return html`
    <h1>The invite</h1><p>This link is shown only now. It works once, until ${formatLocal(expiresAt, timezone)}.</p>
    <div class="field"><label for="secret">Link</label><input id="secret" readonly value="${url}"></div>
    <p class="row"><button type="button" data-copy="secret">Copy</button> <a href="/app/members">Back to the members</a></p>
    ${mailedTo !== null && html`<p>${sent}</p>`}`;
}
