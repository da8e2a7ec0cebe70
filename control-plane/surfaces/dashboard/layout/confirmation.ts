import type { FastifyReply, FastifyRequest } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { renderHidden } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** A page that asks before something is done that cannot be undone. */
interface Confirmation {
  readonly title: string;
  /** What happens. */
  readonly sentence: string;
  /** Where its form is sent. */
  readonly action: string;
  readonly submit: string;
  /** Where "Cancel" leads. */
  readonly back: string;
  /** Further fields of the form. Default: none. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Part of the form that people see. Default: none. */
  readonly parts?: Html;
}

/** Sends a page that asks whether to do something. */
export function sendConfirmation(
  request: FastifyRequest,
  reply: FastifyReply,
  { title, sentence, action, submit, back, fields = {}, parts }: Confirmation,
): Promise<FastifyReply> {
  const session = memberOf(request);
  const hidden = Object.entries({ _csrf: session.formToken, ...fields });
  const body = html`
    <h1>${title}</h1><p>${sentence}</p>
    <form class="stack" method="post" action="${action}">
      ${hidden.map(([name, value]) => renderHidden(name, value))}${parts}
      <div class="row"><button class="danger">${submit}</button><a class="button" href="${back}">Cancel</a></div>
    </form>`;
  return sendPage(request, reply, { title, session, body, isNarrow: true });
}
