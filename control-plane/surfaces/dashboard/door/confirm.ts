import type { FastifyReply, FastifyRequest } from "fastify";
import { readForm } from "#control-plane/surfaces/dashboard/door/form.ts";
import { renderForm, renderHidden, renderInput, renderNote } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { SIGN_IN } from "#control-plane/surfaces/dashboard/strings/people.ts";
import type { Session } from "#control-plane/people/users/sessions.ts";

/** The field with the password by which a sensitive form is confirmed, beside the fields of the form itself. */
export const PASSWORD_FIELD = "_password";

/**
 * Sends the page that asks for the password and carries a form on: its fields are hidden ones, sent to the same path again.
 * The limits of a form's body are limits of the page, too. `problem`: why the password was not accepted; null: it is
 * asked for the first time.
 */
export function sendConfirm(
  request: FastifyRequest,
  reply: FastifyReply,
  session: Session,
  problem: string | null,
): Promise<FastifyReply> {
  const carried = readForm(request)
    .entries()
    .filter(([name]) => name !== "_csrf" && name !== PASSWORD_FIELD);
  const parts = [
    renderHidden("_csrf", session.formToken),
    ...carried.map(([name, value]) => renderHidden(name, value)),
    renderInput({
      name: PASSWORD_FIELD,
      label: SIGN_IN.password,
      type: "password",
      autocomplete: "current-password",
      isRequired: true,
      hasFocus: true,
      maxLength: 1_024,
    }),
  ];
  const body = [
    `<h1>${SIGN_IN.again}</h1><p>${SIGN_IN.againHint}</p>`,
    ...(problem === null ? [] : [renderNote("bad", problem)]),
    renderForm(request.url, parts, SIGN_IN.goOn),
  ].join("");
  return sendPage(request, reply, { title: SIGN_IN.again, session, body, isNarrow: true });
}
