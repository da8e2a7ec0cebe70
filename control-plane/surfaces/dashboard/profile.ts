import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sessionCookie, setSessionCookie } from "#control-plane/surfaces/dashboard/session-guard/cookie.ts";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { idIn, readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { clientOf, refuse } from "#control-plane/surfaces/dashboard/session-guard/attempt.ts";
import { nextPath } from "#control-plane/surfaces/dashboard/sign-in/routes.ts";
import { accountName } from "#control-plane/surfaces/dashboard/session-guard/other-account.ts";
import { PASSWORD_HINT, renderPassword } from "#control-plane/surfaces/dashboard/layout/credentials.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { openTimeZone } from "#control-plane/core/time-zone.ts";
import { passwordProblem } from "#control-plane/people/users/passwords.ts";
import { renderSelect, ZONE_NAMES } from "#control-plane/surfaces/dashboard/layout/choices.ts";
import { renderForm, renderHidden } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { CHOSEN_UTC, formatLocal } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { programName } from "#control-plane/surfaces/dashboard/program-name.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { Session, SessionEntry } from "#control-plane/people/users/sessions.ts";
import type { UserAccount } from "#control-plane/people/users/members.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

const PATH = "/app/profile";
const NO_MEMBER = "You are not a member of this account.";
const SHOWN = { schema: { hide: true } } as const;

/** Registers /app/profile: time zone, password, sessions and accounts of the signed-in user. */
export function registerProfile(scope: FastifyInstance, deps: Dashboard): void {
  const { guard, users, sql, isSecure } = deps;
  const page = guard.page({ needs: "read" });
  const form = guard.form({ needs: "read" });

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
      return sendProfile(request, reply, deps, {
        current: changed.kind === "wrong" ? "The current password is wrong." : sentence,
      });
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
  { users, sql }: Dashboard,
  problems: ProfileProblems,
): Promise<FastifyReply> {
  const session = memberOf(request);
  const [sessions, accounts] = await Promise.all([
    users.sessions.list(sql, session.userId),
    users.members.accountsOf(sql, session.userId),
  ]);
  const { role, isOperator } = session;
  const body = html`
    <h1>Your profile</h1>
    <p>Email: <strong>${session.email}</strong><br>Role in this account: <strong>${role}</strong></p>
    ${isOperator && html`<p class="faint">You are the operator of this service.</p>`}
    ${renderSettings(session, problems)}
    ${accounts.length > 1 && renderAccounts(accounts, session)}
    ${renderSessions(sessions, session)}`;
  return sendPage(request, reply, { title: "Your profile", session, body });
}

/** What is wrong with what was typed into the forms of the profile. */
interface ProfileProblems {
  /** A time zone that there is not. */
  readonly timezone?: string;
  readonly current?: string | null;
  readonly next?: string | null;
}

/** Renders the forms for the time zone and the password. */
function renderSettings({ formToken, timezone }: Session, problems: ProfileProblems): Html {
  const { current = null, next = null } = problems;
  const zone = [
    renderHidden("_csrf", formToken),
    renderSelect({
      name: "timezone",
      label: "Time zone of all times in these pages",
      problem:
        problems.timezone === undefined ? null : "Must be a name of the IANA time zone database such as Europe/Dublin.",
      options: zonesWith(timezone === "UTC" ? CHOSEN_UTC : timezone),
    }),
  ];
  const password = [
    renderHidden("_csrf", formToken),
    renderPassword({
      name: "current",
      label: "Current password",
      problem: current,
      autocomplete: "current-password",
      hasFocus: current !== null,
    }),
    renderPassword({
      name: "next",
      label: "New password",
      hint: `${PASSWORD_HINT} All other sessions end.`,
      problem: next,
      autocomplete: "new-password",
      hasFocus: current === null && next !== null,
    }),
  ];
  return html`
    <h2 id="time-zone">Time zone</h2>
    ${renderForm("/app/profile/time-zone", zone, "Save")}
    <h2>Password</h2>
    ${renderForm("/app/profile/password", password, "Change the password")}`;
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

/** Renders the accounts of the user, each with the way to it. */
function renderAccounts(accounts: readonly UserAccount[], session: Session): Html {
  const renderSwitch = (id: number, name: string): Html => html`
    <form method="post" action="/app/profile/account">
      ${renderHidden("_csrf", session.formToken)}${renderHidden("account_id", String(id))}
      <button aria-label="Switch to it: ${name}">Switch to it</button></form>`;
  return html`
    <h2>Accounts</h2><p>You are a member of several accounts. These pages show one at a time.</p>
    <ul class="rows accounts">
      ${accounts.map(({ accountId: id, email, role }) => {
        const name = accountName(id, email);
        const way = id === session.accountId ? html`<span class="badge good">Shown now</span>` : renderSwitch(id, name);
        return html`<li><div><b>${name}</b><p class="faint">${role}</p></div>${way}</li>`;
      })}
    </ul>`;
}

/** Renders the sessions of the user, each with its end, and the end of all others. */
function renderSessions(sessions: readonly SessionEntry[], current: Session): Html {
  const token = renderHidden("_csrf", current.formToken);
  return html`
    <h2>Where you are signed in</h2>
    <ul class="rows sessions">${sessions.map((one) => renderSession(one, current))}</ul>
    ${sessions.some(({ id }) => id !== current.id) && html`<form method="post" action="/app/profile/sessions">${token}<p><button class="danger">End all other sessions</button></p></form>`}`;
}

function renderSession(entry: SessionEntry, { id: current, timezone, formToken }: Session): Html {
  const { id, address, userAgent, createdAt, usedAt } = entry;
  const program = programName(userAgent) ?? "Unknown browser";
  // People can recognise a program by what it says of itself, also where it has no short name.
  const sent =
    userAgent === ""
      ? html`<div>${program}</div>`
      : html`<details><summary>${program}</summary><p class="faint">${userAgent}</p></details>`;
  const end = html`
    <form method="post" action="/app/profile/sessions">${renderHidden("_csrf", formToken)}${renderHidden("id", String(id))}
      <button aria-label="End the session of ${program} from ${address}">End</button></form>`;
  return html`
    <li><div>${sent}<p class="faint">${address}</p></div>
      <div class="when"><div>Last used <time>${formatLocal(usedAt, timezone)}</time></div><div class="faint">Signed in <time>${formatLocal(createdAt, timezone)}</time></div></div>
      ${id === current ? html`<span class="badge good">This session</span>` : end}</li>`;
}
