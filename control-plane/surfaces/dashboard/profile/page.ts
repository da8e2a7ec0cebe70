import { renderSelect, ZONE_NAMES } from "#control-plane/surfaces/dashboard/frame/choices.ts";
import { renderForm, renderHidden, renderInput } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { CHOSEN_UTC, formatLocal } from "#control-plane/surfaces/dashboard/frame/times.ts";
import { programName } from "#control-plane/surfaces/dashboard/profile/program-name.ts";
import { PROFILE, START } from "#control-plane/surfaces/dashboard/strings/people.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type { Session, SessionEntry } from "#control-plane/people/users/sessions.ts";
import type { UserAccount } from "#control-plane/people/users/members.ts";

/** What is wrong with what was typed into the forms of the profile. */
export interface ProfileProblems {
  /** A time zone that there is not. */
  readonly timezone?: string;
  readonly current?: string | null;
  readonly next?: string | null;
}

interface Shown {
  readonly session: Session;
  readonly sessions: readonly SessionEntry[];
  readonly accounts: readonly UserAccount[];
}

const renderHead: (data: { readonly session: Session }) => string = compileTemplate(`
<h1>${PROFILE.title}</h1>
<p>${PROFILE.email}: <strong><%= it.session.email %></strong><br>${PROFILE.role}: <strong><%= it.session.role %></strong></p>
<% if (it.session.isOperator) { %><p class="faint">${PROFILE.operator}</p><% } %>
`);

const renderAccounts: (data: {
  readonly csrf: string;
  readonly rows: readonly {
    readonly id: number;
    readonly name: string;
    readonly role: string;
    readonly isShown: boolean;
  }[];
}) => string = compileTemplate(`
<h2>${PROFILE.accountsTitle}</h2><p>${PROFILE.accountsIntro}</p>
<ul class="rows accounts">
<% for (const row of it.rows) { %><li><div><b><%= row.name %></b><p class="faint"><%= row.role %></p></div><% if (row.isShown) { %><span class="badge good">${PROFILE.shown}</span><% } else { %>
<form method="post" action="/app/profile/account"><input type="hidden" name="_csrf" value="<%= it.csrf %>"><input type="hidden" name="account_id" value="<%= row.id %>">
<button aria-label="${PROFILE.switchTo}: <%= row.name %>">${PROFILE.switchTo}</button></form><% } %></li><% } %>
</ul>
`);

const renderSessions: (data: {
  readonly csrf: string;
  readonly hasOthers: boolean;
  readonly rows: readonly {
    readonly id: number;
    readonly address: string;
    readonly program: string;
    /** Its whole User-Agent; empty: it has sent none. */
    readonly sent: string;
    readonly created: string;
    readonly used: string;
    readonly isThis: boolean;
    readonly label: string;
  }[];
}) => string = compileTemplate(`
<h2>${PROFILE.sessionsTitle}</h2>
<ul class="rows sessions">
<% for (const row of it.rows) { %><li><div><% if (row.sent === "") { %><div><%= row.program %></div><% } else { %><details><summary><%= row.program %></summary><p class="faint"><%= row.sent %></p></details><% } %><p class="faint"><%= row.address %></p></div>
<div class="when"><div>${PROFILE.used} <time><%= row.used %></time></div><div class="faint">${PROFILE.signedIn} <time><%= row.created %></time></div></div>
<% if (row.isThis) { %><span class="badge good">${PROFILE.here}</span><% } else { %><form method="post" action="/app/profile/sessions"><input type="hidden" name="_csrf" value="<%= it.csrf %>"><input type="hidden" name="id" value="<%= row.id %>">
<button aria-label="<%= row.label %>">${PROFILE.end}</button></form><% } %></li><% } %>
</ul>
<% if (it.hasOthers) { %><form method="post" action="/app/profile/sessions"><input type="hidden" name="_csrf" value="<%= it.csrf %>"><p><button class="danger">${PROFILE.endOthers}</button></p></form><% } %>
`);

/** Renders the profile of the session's user. */
export function renderProfile({ session, sessions, accounts }: Shown, problems: ProfileProblems): string {
  const { formToken: csrf, timezone } = session;
  const { current = null, next = null } = problems;
  const password = [
    renderHidden("_csrf", csrf),
    renderInput({
      name: "current",
      label: PROFILE.current,
      type: "password",
      problem: current,
      autocomplete: "current-password",
      isRequired: true,
      hasFocus: current !== null,
      maxLength: 1_024,
    }),
    renderInput({
      name: "next",
      label: PROFILE.next,
      type: "password",
      hint: `${START.passwordHint} ${PROFILE.changeHint}`,
      problem: next,
      autocomplete: "new-password",
      isRequired: true,
      hasFocus: current === null && next !== null,
      maxLength: 1_024,
    }),
  ];
  const zone = [
    renderHidden("_csrf", csrf),
    renderSelect({
      name: "timezone",
      label: PROFILE.timezone,
      problem: problems.timezone === undefined ? null : PROFILE.timezoneProblem,
      options: zonesWith(timezone === "UTC" ? CHOSEN_UTC : timezone),
    }),
  ];
  return [
    renderHead({ session }),
    `<h2 id="time-zone">${PROFILE.timezoneTitle}</h2>`,
    renderForm("/app/profile/time-zone", zone, PROFILE.save),
    `<h2>${PROFILE.passwordTitle}</h2>`,
    renderForm("/app/profile/password", password, PROFILE.change),
    ...(accounts.length > 1 ? [renderAccounts({ csrf, rows: accounts.map((one) => toAccount(one, session)) })] : []),
    renderSessions({
      csrf,
      hasOthers: sessions.some(({ id }) => id !== session.id),
      rows: sessions.map((one) => toRow(one, session)),
    }),
  ].join("");
}

/** Returns the zones to choose from, with the present one, which can be an alias of one of them. */
function zonesWith(current: string) {
  const names = [...new Set([CHOSEN_UTC, current, ...ZONE_NAMES])].toSorted();
  return names.map((name) => ({
    value: name,
    label: name === CHOSEN_UTC ? "UTC" : name.replaceAll("_", " "),
    isSelected: name === current,
  }));
}

function toAccount({ accountId, email, role }: UserAccount, session: Session) {
  const name = PROFILE.account(accountId, email);
  return { id: accountId, name, role, isShown: accountId === session.accountId };
}

function toRow({ id, address, userAgent, createdAt, usedAt }: SessionEntry, { timezone, id: current }: Session) {
  const program = programName(userAgent) ?? PROFILE.unknownProgram;
  return {
    id,
    address,
    program,
    // People can recognise a program by what it says of itself, also where it has no short name.
    sent: userAgent,
    created: formatLocal(createdAt, timezone),
    used: formatLocal(usedAt, timezone),
    isThis: id === current,
    label: PROFILE.endLabel(program, address),
  };
}
