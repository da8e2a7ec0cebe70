import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import { spellMailAddress } from "#control-plane/core/mail-address.ts";
import { readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import {
  EMAIL_PROBLEM,
  PASSWORD_HINT,
  renderEmail,
  renderPassword,
} from "#control-plane/surfaces/dashboard/layout/credentials.ts";
import { renderForm, renderNote } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { clientOf, refuse } from "#control-plane/surfaces/dashboard/session-guard/attempt.ts";
import { admit, ZONE_FIELD } from "#control-plane/surfaces/dashboard/sign-in/routes.ts";
import { html } from "#control-plane/core/pages/html.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import { passwordProblem } from "#control-plane/people/users/passwords.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

const URL_OF_START = "/start/:token";

/** Why an address is not taken. */
const FOREIGN =
  "This address belongs to a user with other accounts. Sign in with its password, or use another address.";

interface Problems {
  readonly email?: string | null;
  readonly password?: string | null;
  readonly form?: string | null;
}

/** Registers GET and POST /start/<token>, where an owner takes over an account by the link of the terminal. */
export function registerStart(scope: FastifyInstance, deps: Dashboard): void {
  const { guard, users, visits } = deps;
  scope.route<{ Params: { token: string } }>({
    method: "GET",
    url: URL_OF_START,
    schema: { hide: true },
    async handler(request, reply) {
      takeVisit(visits, request);
      const { token } = request.params;
      if ((await users.peek("start", token)) === null) return sendExpired(request, reply);
      return sendStart(request, reply, token, "", {});
    },
  });
  scope.route<{ Params: { token: string } }>({
    ...guard.openForm(),
    url: URL_OF_START,
    schema: { hide: true },
    async handler(request, reply) {
      takeVisit(visits, request);
      const { token } = request.params;
      const form = readForm(request);
      const typed = form.text("email").trim();
      const email = spellMailAddress(typed);
      const password = passwordProblem(form.text("password"));
      if (email === null || password !== null) {
        const problems = { email: email === null ? EMAIL_PROBLEM : null, password };
        return sendStart(request, reply.code(400), token, typed, problems);
      }
      const used = await users.start(token, { email, password: form.text("password") }, clientOf(request));
      if (used.kind === "expired") return sendExpired(request, reply);
      if (used.kind === "foreign") return sendStart(request, reply.code(409), token, typed, { form: FOREIGN });
      if (used.kind !== "ok") {
        return sendStart(request, reply, token, typed, { form: refuse(reply, used) });
      }
      await admit(deps, request, reply, used.token, null);
      return reply.redirect("/app/", 303);
    },
  });
}

function sendStart(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  email: string,
  problems: Problems,
): Promise<FastifyReply> {
  const { email: ofEmail = null, password = null, form = null } = problems;
  const parts = [
    ZONE_FIELD,
    renderEmail({ value: email, problem: ofEmail, hasFocus: ofEmail !== null || password === null }),
    renderPassword({
      hint: PASSWORD_HINT,
      problem: password,
      autocomplete: "new-password",
      hasFocus: ofEmail === null && password !== null,
    }),
  ];
  const title = "Welcome to Vantage";
  const body = html`
    <h1>${title}</h1><p>Choose the email address and the password with which you sign in from now on.</p>
    ${form !== null && renderNote("bad", form)}
    ${renderForm(`/start/${encodeURIComponent(token)}`, parts, "Start")}`;
  return sendPage(request, reply, { title, session: null, body, isNarrow: true });
}

function sendExpired(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const title = "This link does not work any more";
  const body = html`
    <h1>${title}</h1><p>It works once, for 15 minutes. Print another one where the service runs:</p>
    <pre><code>${LAUNCHER} sign-in-link</code></pre>`;
  return sendPage(request, reply.code(404), { title, session: null, body, isNarrow: true });
}
