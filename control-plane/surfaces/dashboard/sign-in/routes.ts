import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { clientOf, refuse } from "#control-plane/surfaces/dashboard/session-guard/attempt.ts";
import {
  clearSessionCookie,
  sessionCookie,
  setSessionCookie,
} from "#control-plane/surfaces/dashboard/session-guard/cookie.ts";
import {
  CONFIRM_HEAD,
  CONFIRM_SUBMIT,
  CONFIRM_TITLE,
} from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { renderEmail, renderPassword } from "#control-plane/surfaces/dashboard/layout/credentials.ts";
import { renderForm, renderHidden, renderNote } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { html } from "#control-plane/core/pages/html.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { openTimeZone } from "#control-plane/core/time-zone.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import type { Session } from "#control-plane/people/users/sessions.ts";
import type { Users } from "#control-plane/people/users/users.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

/** Registers GET and POST /sign-in, and POST /sign-out. */
export function registerSignIn(scope: FastifyInstance, deps: Dashboard): void {
  const { guard, users, sql, visits, isSecure } = deps;
  scope.route({
    method: "GET",
    url: "/sign-in",
    schema: { hide: true },
    async handler(request, reply) {
      takeVisit(visits, request);
      const session = await guard.identify(request);
      const { next } = request.query as { readonly next?: unknown };
      // Only what asks for a recent password sends a member here.
      if (session?.isRecent === true) return reply.redirect(nextPath(next), 303);
      return sendSignIn(request, reply, deps, { session, next: nextPath(next), email: "", problem: null });
    },
  });
  scope.route({
    ...guard.openForm(),
    url: "/sign-in",
    schema: { hide: true },
    async handler(request, reply) {
      takeVisit(visits, request);
      const form = readForm(request);
      const session = await guard.identify(request);
      const next = nextPath(form.text("next"));
      const typed = form.text("email").trim();
      const email = session?.email ?? typed;
      const signedIn = await users.signIn({ email, password: form.text("password") }, clientOf(request));
      if (signedIn.kind !== "ok") {
        return sendSignIn(request, reply, deps, { session, next, email: typed, problem: refuse(reply, signedIn) });
      }
      await admit(deps, request, reply, signedIn.token, session);
      return reply.redirect(next, 303);
    },
  });
  scope.route({
    ...guard.openForm(),
    url: "/sign-out",
    schema: { hide: true },
    async handler(request, reply) {
      const token = sessionCookie(request);
      if (token !== null) await users.sessions.end(sql, token);
      clearSessionCookie(reply, isSecure);
      return reply.header("clear-site-data", '"cache"').redirect("/sign-in?done=signed_out", 303);
    },
  });
}

/**
 * Gives a client its new session and ends the one that it had. A member who confirms a password stays in the account.
 */
export async function admit(
  { users, sql, isSecure }: Dashboard,
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  before: Session | null,
): Promise<void> {
  const old = sessionCookie(request);
  let fresh = token;
  if (before !== null) {
    const opened = await users.sessions.find(token);
    if (opened !== null && opened.userId === before.userId && opened.accountId !== before.accountId)
      fresh =
        (await transact(sql, (tx) => users.sessions.switch(tx, opened, token, before.accountId, clientOf(request)))) ??
        token;
  }
  if (old !== null) await users.sessions.end(sql, old);
  await takeZone(users, request, fresh);
  setSessionCookie(reply, fresh, isSecure);
}

/** Field of a form, in which the script of the dashboard writes the time zone of the browser. */
export const ZONE_FIELD = html`<input type="hidden" name="timezone" data-zone>`;

/** Gives a user who has chosen no time zone that of the browser, if it has said one. */
async function takeZone(users: Users, request: FastifyRequest, token: string): Promise<void> {
  const timezone = readForm(request).text("timezone");
  if (timezone === "" || openTimeZone(timezone) === null) return;
  const session = await users.sessions.find(token);
  if (session?.timezone === "UTC") await users.setTimezone(session, timezone, clientOf(request));
}

interface Shown {
  readonly session: Session | null;
  readonly next: string;
  readonly email: string;
  readonly problem: string | null;
}

function sendSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  { canMail, canSignUp }: Pick<Dashboard, "canMail" | "canSignUp">,
  { session, next, email, problem }: Shown,
): Promise<FastifyReply> {
  const password = renderPassword({ autocomplete: "current-password", hasFocus: session !== null || email !== "" });
  const parts = [
    renderHidden("next", next),
    ZONE_FIELD,
    ...(session === null ? [renderEmail({ value: email, hasFocus: email === "" })] : []),
    password,
  ];
  const title = session === null ? "Sign in" : CONFIRM_TITLE;
  const body = html`
    ${session === null ? html`<h1>${title}</h1>` : CONFIRM_HEAD}
    ${problem !== null && renderNote("bad", problem)}
    ${renderForm("/sign-in", parts, session === null ? "Sign in" : CONFIRM_SUBMIT)}
    ${canMail && html`<p><a href="/reset">Forgot your password?</a></p>`}
    ${canMail && canSignUp && session === null && html`<p><a href="/sign-up">Open an account</a></p>`}`;
  return sendPage(request, reply, { title, session: null, body, isNarrow: true });
}

/** Where a sign-in leads, as given by `next`: a path of the dashboard only, never another site. Pure. */
export function nextPath(given: unknown): string {
  return typeof given === "string" && given.length <= 2_000 && /^\/app\/[!-[\]-~]*$/.test(given) ? given : "/app/";
}
