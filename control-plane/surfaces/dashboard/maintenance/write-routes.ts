import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { problemOf } from "#control-plane/surfaces/dashboard/incidents/write-routes.ts";
import { sendForm, windowOf, type WithId } from "#control-plane/surfaces/dashboard/maintenance/views.ts";
import { bodyOf, typedOf, type TypedWindow } from "#control-plane/surfaces/dashboard/maintenance/values.ts";
import { requireRead, type Refusal } from "#control-plane/http/errors.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { maintenanceWindow } from "#control-plane/outages/maintenance/resource.ts";
import { changeOf } from "#control-plane/outages/maintenance/serialize.ts";
import { parseParams } from "#shared/schema/schema.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

const FROM_JSON = { from: "json", unknown: "refuse" } as const;

/** Registers what members do with a window: plan it, change it, cancel it, take that back, delete it. */
export function registerWindowWrites(scope: FastifyInstance, deps: Dashboard): void {
  const { guard, writes, maintenance } = deps;
  scope.route({
    ...guard.form({ needs: "write" }),
    url: "/app/maintenance/new",
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId } = memberOf(request);
      const typed = typedOf(readForm(request));
      const ran = await writes.run(request, async (tx) => {
        const body = requireRead(parseParams(maintenanceWindow.create, bodyOf(typed, null), FROM_JSON));
        const { window } = requireWritten(await maintenance.create(tx, accountId, body));
        return { data: window.id, changes: [changeOf(window, null)] };
      });
      if (ran.ok) return reply.redirect(`/app/maintenance/${ran.data}?done=window_created`, 303);
      const problems = problemsOf(ran.refusal, typed);
      return sendForm(request, reply.code(ran.refusal.status), deps, { id: null, typed, problems });
    },
  });
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: "/app/maintenance/:id/edit",
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId } = memberOf(request);
      const current = await windowOf(request, maintenance);
      const typed = typedOf(readForm(request));
      const ran = await writes.run(request, async (tx) => {
        const body = requireRead(parseParams(maintenanceWindow.change, bodyOf(typed, current), FROM_JSON));
        const { window, before } = requireWritten(await maintenance.change(tx, accountId, current.id, body));
        return { data: null, changes: [changeOf(window, before)] };
      });
      if (ran.ok) return reply.redirect(`/app/maintenance/${current.id}?done=window_saved`, 303);
      const problems = problemsOf(ran.refusal, typed);
      return sendForm(request, reply.code(ran.refusal.status), deps, { id: current.id, typed, problems });
    },
  });
  for (const [action, status, done] of [
    ["cancel", "cancelled", "window_cancelled"],
    ["restore", "scheduled", "window_restored"],
  ] as const) {
    scope.route<WithId>({
      ...guard.form({ needs: "write" }),
      url: `/app/maintenance/:id/${action}`,
      schema: { hide: true },
      handler: (request, reply) => setStatus(request, reply, deps, { status, done }),
    });
  }
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: "/app/maintenance/:id/delete",
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId } = memberOf(request);
      const { id } = await windowOf(request, maintenance);
      const ran = await writes.run(request, async (tx) => {
        const name = await maintenance.remove(tx, accountId, id);
        return {
          data: null,
          changes: name === null ? [] : [{ resource: "maintenance", id, name, action: "deleted" } as const],
        };
      });
      if (!ran.ok) throw ran.refusal;
      return reply.redirect("/app/maintenance?done=window_deleted", 303);
    },
  });
}

async function setStatus(
  request: FastifyRequest<WithId>,
  reply: FastifyReply,
  { writes, maintenance }: Dashboard,
  { status, done }: { readonly status: "cancelled" | "scheduled"; readonly done: string },
): Promise<FastifyReply> {
  const { accountId } = memberOf(request);
  const { id } = await windowOf(request, maintenance);
  const ran = await writes.run(request, async (tx) => {
    const { window, before } = requireWritten(await maintenance.change(tx, accountId, id, { status }));
    return { data: null, changes: [changeOf(window, before)] };
  });
  if (!ran.ok) throw ran.refusal;
  return reply.redirect(`/app/maintenance/${id}?done=${done}`, 303);
}

/** Inputs of the form by the fields of the API that have another name there. */
const INPUTS: Readonly<Record<string, string>> = {
  starts_at: "starts",
  ends_at: "lasts",
  duration_seconds: "lasts",
  rrule: "rule",
};

/** Returns what is wrong with what was typed, by the input, in the words of the form where its inputs are not the API's. */
function problemsOf(refusal: Refusal, { starts }: TypedWindow): ReadonlyMap<string, string> {
  const { field, problem } = problemOf(refusal);
  const [name = ""] = field.split(".");
  const words: Readonly<Record<string, string>> = {
    duration_seconds: "Must be from 1 minute to 30 days.",
    // The form gives a duration: the end is refused only if it is past.
    ends_at: "The window is over already. Choose a later start or a longer duration.",
    ...(starts === "" ? { starts_at: "Choose a day and a time." } : {}),
  };
  return new Map([[INPUTS[name] ?? name, words[name] ?? problem]]);
}
