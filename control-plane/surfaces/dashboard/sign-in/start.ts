import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import { spellMailAddress } from "#control-plane/core/mail-address.ts";
import { readForm } from "#control-plane/surfaces/dashboard/door/form.ts";
import { renderForm, renderInput, renderNote } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { clientOf, refuse } from "#control-plane/surfaces/dashboard/door/attempt.ts";
import { admit, ZONE_FIELD, type SignInDeps } from "#control-plane/surfaces/dashboard/sign-in/routes.ts";
import { START } from "#control-plane/surfaces/dashboard/strings/people.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import { passwordProblem } from "#control-plane/people/users/passwords.ts";

const URL_OF_START = "/start/:token";

interface Problems {
  readonly email?: string | null;
  readonly password?: string | null;
  readonly form?: string | null;
}

/** Registers GET and POST /start/<token>, where an owner takes over an account by the link of the terminal. */
export function registerStart(scope: FastifyInstance, deps: SignInDeps): void {
  const { door, users, visits } = deps;
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
    ...door.openForm(),
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
        const problems = { email: email === null ? START.emailProblem : null, password };
        return sendStart(request, reply.code(400), token, typed, problems);
      }
      const used = await users.start(token, { email, password: form.text("password") }, clientOf(request));
      if (used.kind === "expired") return sendExpired(request, reply);
      if (used.kind === "foreign") return sendStart(request, reply.code(409), token, typed, { form: START.foreign });
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
    renderInput({
      name: "email",
      label: START.email,
      type: "email",
      value: email,
      problem: ofEmail,
      autocomplete: "username",
      isRequired: true,
      hasFocus: ofEmail !== null || password === null,
      maxLength: 254,
    }),
    renderInput({
      name: "password",
      label: START.password,
      type: "password",
      hint: START.passwordHint,
      problem: password,
      autocomplete: "new-password",
      isRequired: true,
      hasFocus: ofEmail === null && password !== null,
      maxLength: 1_024,
    }),
  ];
  const body = [
    `<h1>${START.title}</h1><p>${START.intro}</p>`,
    ...(form === null ? [] : [renderNote("bad", form)]),
    renderForm(`/start/${encodeURIComponent(token)}`, parts, START.submit),
  ];
  return sendPage(request, reply, { title: START.title, session: null, body: body.join(""), isNarrow: true });
}

function sendExpired(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const body = `<h1>${START.expiredTitle}</h1><p>${START.expired}</p><pre><code>${LAUNCHER} sign-in-link</code></pre>`;
  const page = { title: START.expiredTitle, session: null, body, isNarrow: true };
  return sendPage(request, reply.code(404), page);
}
