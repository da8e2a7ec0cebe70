import type { Static } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import type { TypedWriting } from "#control-plane/surfaces/dashboard/incidents/actions.ts";
import { idOf, showIncident, type WithId } from "#control-plane/surfaces/dashboard/incidents/views.ts";
import { requireRead, type Refusal } from "#control-plane/http/errors.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { CHANGE } from "#control-plane/outages/incidents/schemas.ts";
import { parseParams } from "#shared/schema/schema.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

/** Registers what members do with an incident: acknowledge it, add a note, publish an update, edit it, resolve it. */
export function registerIncidentWrites(scope: FastifyInstance, deps: Dashboard): void {
  const { guard } = deps;
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: "/app/incidents/:id/acknowledge",
    schema: { hide: true },
    async handler(request, reply) {
      const acknowledged = readForm(request).text("acknowledged") !== "no";
      const done = acknowledged ? "incident_acknowledged" : "incident_unacknowledged";
      return change(request, reply, deps, { body: { acknowledged }, done });
    },
  });
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: "/app/incidents/:id/resolve",
    schema: { hide: true },
    async handler(request, reply) {
      const body = { update: { status: "resolved", text: "This incident is resolved." } };
      return change(request, reply, deps, { body, done: "incident_resolved" });
    },
  });
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: "/app/incidents/:id/note",
    schema: { hide: true },
    async handler(request, reply) {
      const text = readForm(request).text("text");
      const typed = { ...NOTHING_TYPED, form: "note", text } as const;
      return change(request, reply, deps, { body: { note: linesOf(text) }, done: "incident_noted", typed });
    },
  });
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: "/app/incidents/:id/publish",
    schema: { hide: true },
    async handler(request, reply) {
      const form = readForm(request);
      const [text, status, isPublic] = [form.text("text"), form.text("status"), form.has("public")];
      const pageIds = idsOf(form.list("page_ids"));
      const update = { ...(status === "" ? {} : { status }), text: linesOf(text), public: isPublic };
      // Pages show no update of an incident that they do not show.
      const published = isPublic ? { public: true, update } : { update };
      // Without its mark the form has no choice of pages, which is another thing than one without a page.
      const body = form.has("pages") ? { ...published, page_ids: pageIds } : published;
      const typed = { ...NOTHING_TYPED, form: "publish", text, status, isPublic, pageIds } as const;
      return change(request, reply, deps, { body, done: "incident_published", typed });
    },
  });
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: "/app/incidents/:id/edit",
    schema: { hide: true },
    async handler(request, reply) {
      const form = readForm(request);
      const [title, impact] = [form.text("title"), form.text("impact")];
      const typed = { ...NOTHING_TYPED, form: "edit", title, impact } as const;
      return change(request, reply, deps, { body: { title: title.trim(), impact }, done: "incident_edited", typed });
    },
  });
}

const NOTHING_TYPED = { text: "", status: "", isPublic: false, pageIds: [], title: "", impact: "" };

/** Returns the ids in a list of texts. */
export function idsOf(texts: readonly string[]): readonly number[] {
  return texts.filter((text) => /^[1-9]\d{0,14}$/.test(text)).map(Number);
}

/** A change as the API takes it. */
interface Asked {
  readonly body: Readonly<Record<string, unknown>>;
  /** Code of the message after it, in the address. */
  readonly done: string;
  /** What was typed, to be shown again if it is refused; absent: nothing. */
  readonly typed?: Omit<TypedWriting, "field" | "problem">;
}

/** Fields of the forms by the names of the API; every other problem is beside the text. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ["update.status", "status"],
  ["page_ids", "page_ids"],
  ["title", "title"],
  ["impact", "impact"],
]);

async function change(
  request: FastifyRequest<WithId>,
  reply: FastifyReply,
  deps: Dashboard,
  { body, done, typed }: Asked,
): Promise<FastifyReply> {
  const { accountId, email } = memberOf(request);
  const id = idOf(request);
  const ran = await deps.writes.run(request, async (tx) => {
    const parsed: Static<typeof CHANGE> = requireRead(parseParams(CHANGE, body, { from: "json", unknown: "refuse" }));
    const { changes } = requireWritten(await deps.incidents.change(tx, { accountId, by: email }, id, parsed));
    return { data: null, changes };
  });
  if (ran.ok) return reply.redirect(`/app/incidents/${id}?done=${done}`, 303);
  const { field, problem } = problemOf(ran.refusal);
  // A 404 without a field is of the incident itself; a page can be deleted while its name is on the form.
  if (typed === undefined || (ran.refusal.status === 404 && field === "")) throw ran.refusal;
  const shown = { ...typed, field: FIELDS.get(field) ?? "text", problem };
  return showIncident(request, reply.code(ran.refusal.status), deps, shown);
}

/** Returns the refused field of the API, "" for none, and what is wrong with it as a sentence. */
export function problemOf({ details: { field = "", message } }: Refusal): {
  readonly field: string;
  readonly problem: string;
} {
  // The field is named by its label; a message of the API begins with its name.
  const rest = message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
  return { field, problem: `${rest.slice(0, 1).toUpperCase()}${rest.slice(1)}` };
}

/** Returns the text of a form as its API takes it: browsers send line breaks as CR LF. */
export function linesOf(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n");
}
