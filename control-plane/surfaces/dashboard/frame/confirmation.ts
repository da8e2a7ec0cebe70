import type { FastifyReply, FastifyRequest } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/door/door.ts";
import { renderHidden } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { CONFIRMATION } from "#control-plane/surfaces/dashboard/strings/frame.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

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
  /** Rendered parts of the form that people see. Default: none. */
  readonly parts?: readonly string[];
}

const renderTop: (data: Pick<Confirmation, "title" | "sentence" | "action">) => string = compileTemplate(
  `<h1><%= it.title %></h1><p><%= it.sentence %></p><form class="stack" method="post" action="<%= it.action %>">`,
);

const renderEnd: (data: Pick<Confirmation, "submit" | "back">) => string = compileTemplate(
  `<div class="row"><button class="danger"><%= it.submit %></button><a class="button" href="<%= it.back %>">${CONFIRMATION.cancel}</a></div></form>`,
);

/** Sends a page that asks whether to do something. */
export function sendConfirmation(
  request: FastifyRequest,
  reply: FastifyReply,
  confirmation: Confirmation,
): Promise<FastifyReply> {
  const session = memberOf(request);
  const fields = Object.entries({ _csrf: session.formToken, ...confirmation.fields });
  const body = [
    renderTop(confirmation),
    ...fields.map(([name, value]) => renderHidden(name, value)),
    ...(confirmation.parts ?? []),
    renderEnd(confirmation),
  ].join("");
  return sendPage(request, reply, { title: confirmation.title, session, body, isNarrow: true });
}
