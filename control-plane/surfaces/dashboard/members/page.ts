import { renderForm, renderHidden, renderInput, renderNote } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { formatLocal } from "#control-plane/surfaces/dashboard/frame/times.ts";
import { MEMBERS, NOT_MAILED } from "#control-plane/surfaces/dashboard/strings/people.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type { MailLimit } from "#control-plane/notify/mail/ledger.ts";
import { hasAddress, type ListedMember } from "#control-plane/people/users/members.ts";
import { ROLES, type Role } from "#control-plane/people/users/roles.ts";
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

interface Row {
  readonly id: number;
  readonly email: string;
  readonly role: Role;
  readonly since: string;
  readonly isYou: boolean;
  readonly isUnconfirmed: boolean;
  readonly roleLabel: string;
  readonly removeLabel: string;
}

const OPTIONS = (selected: string) =>
  ROLES.map(
    (role) =>
      `<option value="${role}"<% if (${selected} === "${role}") { %> selected<% } %>>${MEMBERS.roles[role]}</option>`,
  ).join("");

const renderMembers: (data: { readonly csrf: string; readonly rows: readonly Row[] }) => string = compileTemplate(`
<p class="faint">${MEMBERS.roleHint}</p>
<div class="scroll" role="group" tabindex="0" aria-label="${MEMBERS.title}"><table class="cards"><thead><tr><th scope="col">${MEMBERS.email}</th><th scope="col">${MEMBERS.since}</th><th scope="col">${MEMBERS.role}</th><th scope="col"><span class="hidden">${MEMBERS.action}</span></th></tr></thead><tbody>
<% for (const row of it.rows) { %><tr><th scope="row"><%= row.email %><% if (row.isYou) { %> <span class="badge">${MEMBERS.you}</span><% } %><% if (row.isUnconfirmed) { %> <span class="badge">${MEMBERS.notConfirmed}</span><% } %></th>
<td class="date" data-label="${MEMBERS.since}"><%= row.since %></td><td>
<form class="row" method="post" action="/app/members/<%= row.id %>/role"><input type="hidden" name="_csrf" value="<%= it.csrf %>">
<div><select name="role" aria-label="<%= row.roleLabel %>">${OPTIONS("row.role")}</select></div><button>${MEMBERS.change}</button></form></td>
<td><a class="button danger" href="/app/members/<%= row.id %>/remove" aria-label="<%= row.removeLabel %>"><% if (row.isYou) { %>${MEMBERS.leave}<% } else { %>${MEMBERS.remove}<% } %></a></td></tr><% } %>
</tbody></table></div>
`);

const renderRole: (data: { readonly role: string }) => string = compileTemplate(`
<div class="field"><label for="f-role">${MEMBERS.role}</label><select id="f-role" name="role">${OPTIONS("it.role")}</select></div>
`);

const renderInvites: (data: {
  readonly csrf: string;
  readonly rows: readonly {
    readonly id: number;
    readonly email: string;
    readonly role: string;
    readonly until: string;
    readonly label: string;
  }[];
}) => string = compileTemplate(`
<h2>${MEMBERS.invitesTitle}</h2>
<div class="scroll" role="group" tabindex="0" aria-label="${MEMBERS.invitesTitle}"><table class="cards"><thead><tr><th scope="col">${MEMBERS.email}</th><th scope="col">${MEMBERS.role}</th><th scope="col">${MEMBERS.until}</th><th scope="col"><span class="hidden">${MEMBERS.action}</span></th></tr></thead><tbody>
<% for (const row of it.rows) { %><tr><th scope="row"><%= row.email %></th><td><%= row.role %></td><td class="date" data-label="${MEMBERS.until}"><%= row.until %></td><td>
<form method="post" action="/app/members/invites/<%= row.id %>/revoke"><input type="hidden" name="_csrf" value="<%= it.csrf %>"><button aria-label="<%= row.label %>">${MEMBERS.revoke}</button></form></td></tr><% } %>
</tbody></table></div>
`);

/** Renders the members of the session's account and its open invites. */
export function renderMembersPage(view: MembersView): string {
  const { session, members, invites, canMail, problem = null, typed, emailProblem = null } = view;
  const { formToken: csrf, timezone, userId } = session;
  const rows = members.map((one) => ({
    id: one.userId,
    email: one.email,
    role: one.role,
    since: formatLocal(one.createdAt, timezone),
    isYou: one.userId === userId,
    // Who has lost the address to its owner has none to confirm.
    isUnconfirmed: !one.isProved && hasAddress(one),
    roleLabel: MEMBERS.roleOf(one.email),
    removeLabel: one.userId === userId ? MEMBERS.leave : MEMBERS.removeOf(one.email),
  }));
  const invite = [
    renderHidden("_csrf", csrf),
    renderInput({
      name: "email",
      label: MEMBERS.inviteEmail,
      type: "email",
      value: typed?.email ?? "",
      hint: canMail ? `${MEMBERS.inviteHint} ${MEMBERS.inviteMailed}` : MEMBERS.inviteHint,
      problem: emailProblem,
      maxLength: 254,
    }),
    renderRole({ role: typed?.role ?? "viewer" }),
  ];
  return [
    `<h1>${MEMBERS.title}</h1>`,
    ...(problem === null ? [] : [renderNote("bad", problem)]),
    renderMembers({ csrf, rows }),
    `<h2>${MEMBERS.inviteTitle}</h2>`,
    renderForm("/app/members/invites", invite, MEMBERS.invite),
    ...(invites.length === 0 ? [] : [renderInvites({ csrf, rows: invites.map((one) => toInvite(one, timezone)) })]),
  ].join("");
}

function toInvite({ id, email, role, expiresAt }: Invite, timezone: string) {
  const named = email ?? MEMBERS.anybody;
  return {
    id,
    email: named,
    role: MEMBERS.roles[role ?? "viewer"],
    until: formatLocal(expiresAt, timezone),
    label: MEMBERS.revokeOf(named),
  };
}

const renderLink: (data: { readonly url: string; readonly until: string; readonly mailed: string | null }) => string =
  compileTemplate(`
<h1>${MEMBERS.createdTitle}</h1><p>${MEMBERS.created} <%= it.until %>.</p>
<div class="field"><label for="secret">${MEMBERS.link}</label><input id="secret" readonly value="<%= it.url %>"></div>
<p class="row"><button type="button" data-copy="secret">${MEMBERS.copy}</button> <a href="/app/members">${MEMBERS.back}</a></p>
<% if (it.mailed !== null) { %><p><%= it.mailed %></p><% } %>
`);

/** Says which limit has not allowed the mail with an invite. */
export function describeLimit(limit: MailLimit): string {
  if (limit === "recipient") return NOT_MAILED.recipient;
  return limit === "account" || limit === "invites" ? NOT_MAILED.account : NOT_MAILED.service;
}

interface CreatedInvite {
  readonly url: string;
  readonly expiresAt: Date;
  readonly mailedTo: string | null;
  readonly limit: MailLimit | null;
}

/**
 * Renders a new invite, whose link is shown once. `mailedTo`: the address that gets it by mail, unless a limit does not
 * allow it; null: none.
 */
export function renderCreatedInvite(
  { url, expiresAt, mailedTo, limit }: CreatedInvite,
  { timezone }: Pick<Session, "timezone">,
): string {
  const sent = limit === null ? MEMBERS.mailed(mailedTo ?? "") : `${describeLimit(limit)} ${MEMBERS.giveLink}`;
  const mailed = mailedTo === null ? null : sent;
  return renderLink({ url, until: formatLocal(expiresAt, timezone), mailed });
}
