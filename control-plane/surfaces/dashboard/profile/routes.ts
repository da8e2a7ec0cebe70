import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sessionCookie, setSessionCookie } from "#control-plane/surfaces/dashboard/door/cookie.ts";
import { memberOf } from "#control-plane/surfaces/dashboard/door/door.ts";
import { idIn, readForm } from "#control-plane/surfaces/dashboard/door/form.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { clientOf, refuse } from "#control-plane/surfaces/dashboard/door/attempt.ts";
import { nextPath, type SignInDeps } from "#control-plane/surfaces/dashboard/sign-in/routes.ts";
import { PROFILE, START } from "#control-plane/surfaces/dashboard/strings/people.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { openTimeZone } from "#control-plane/core/time-zone.ts";
import { passwordProblem } from "#control-plane/people/users/passwords.ts";
import { renderSelect, ZONE_NAMES } from "#control-plane/surfaces/dashboard/frame/choices.ts";
import { renderForm, renderHidden, renderInput } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { CHOSEN_UTC, formatLocal } from "#control-plane/surfaces/dashboard/frame/times.ts";
import { programName } from "#control-plane/surfaces/dashboard/profile/program-name.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type { Session, SessionEntry } from "#control-plane/people/users/sessions.ts";
import type { UserAccount } from "#control-plane/people/users/members.ts";

const PATH = "/app/profile";
const NO_MEMBER = "You are not a member of this account.";
const SHOWN = { schema: { hide: true } } as const;

/** Registers /app/profile: time zone, password, sessions and accounts of the signed-in user. */
export function registerProfile(scope: FastifyInstance, deps: SignInDeps): void {
  const { door, users, sql, isSecure } = deps;
  const page = door.page({ needs: "read" });
  const form = door.form({ needs: "read" });

  scope.route({ ...page, ...SHOWN, url: PATH, handler: (request, reply) => sendProfile(request, reply, deps, {}) });

  scope.route({
    ...form,
    ...SHOWN,
    url: `${PATH}/time-zone`,
    async handler(request, reply) {
      const timezone = readForm(request).text("timezone").trim();
      if (openTimeZone(timezone) === null) return sendProfile(request, reply.code(400), deps, { timezone });
      await users.setTimezone(memberOf(request), timezone, clientOf(request));
      return reply.redirect(`${PATH}?done=timezone`, 303);
    },
  });

  scope.route({
    ...form,
    ...SHOWN,
    url: `${PATH}/password`,
    async handler(request, reply) {
      const given = readForm(request);
      const next = given.text("next");
      const problem = passwordProblem(next);
      if (problem !== null) return sendProfile(request, reply.code(400), deps, { next: problem });
      const changed = await users.changePassword(
        memberOf(request),
        { current: given.text("current"), next },
        clientOf(request),
      );
      if (changed.kind === "ok") {
        setSessionCookie(reply, changed.token, isSecure);
        return reply.redirect(`${PATH}?done=password`, 303);
      }
      const sentence = refuse(reply, changed);
      return sendProfile(request, reply, deps, { current: changed.kind === "wrong" ? PROFILE.wrong : sentence });
    },
  });

  // Ends the session with the field `id`; without one all others.
  scope.route({
    ...form,
    ...SHOWN,
    url: `${PATH}/sessions`,
    async handler(request, reply) {
      const session = memberOf(request);
      const given = readForm(request);
      if (!given.has("id")) {
        await users.endSessions(session, { exceptId: session.id }, clientOf(request));
        return reply.redirect(`${PATH}?done=sessions_ended`, 303);
      }
      const id = idIn(given, "id");
      // One that has ended in the meantime needs no end.
      if (id !== null) await users.endSessions(session, { id }, clientOf(request));
      return reply.redirect(`${PATH}?done=session_ended`, 303);
    },
  });

  scope.route({
    ...form,
    ...SHOWN,
    url: `${PATH}/account`,
    async handler(request, reply) {
      const session = memberOf(request);
      const given = readForm(request);
      const accountId = idIn(given, "account_id");
      const old = sessionCookie(request);
      const accounts = await users.members.accountsOf(sql, session.userId);
      if (old === null || accountId === null || !accounts.some((one) => one.accountId === accountId))
        throw new Refusal("not_found", NO_MEMBER);
      const token = await transact(sql, (tx) => users.sessions.switch(tx, session, old, accountId, clientOf(request)));
      if (token === null) throw new Refusal("not_found", NO_MEMBER);
      setSessionCookie(reply, token, isSecure);
      return reply.redirect(nextPath(given.text("next")), 303);
    },
  });
}

async function sendProfile(
  request: FastifyRequest,
  reply: FastifyReply,
  { users, sql }: SignInDeps,
  problems: ProfileProblems,
): Promise<FastifyReply> {
  const session = memberOf(request);
  const [sessions, accounts] = await Promise.all([
    users.sessions.list(sql, session.userId),
    users.members.accountsOf(sql, session.userId),
  ]);
  const body = renderProfile({ session, sessions, accounts }, problems);
  return sendPage(request, reply, { title: PROFILE.title, session, body });
}

/** What is wrong with what was typed into the forms of the profile. */
interface ProfileProblems {
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
function renderProfile({ session, sessions, accounts }: Shown, problems: ProfileProblems): string {
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
