import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { memberOf, type Door } from "#control-plane/surfaces/dashboard/door/door.ts";
import { readForm } from "#control-plane/surfaces/dashboard/door/form.ts";
import type { MemberWrites } from "#control-plane/surfaces/dashboard/door/member-writes.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { renderPaste, renderPasteResults, type TriedLine } from "#control-plane/surfaces/dashboard/paste/page.ts";
import { bodyOf, readLines, type PastedLine } from "#control-plane/surfaces/dashboard/paste/read-lines.ts";
import { PASTE } from "#control-plane/surfaces/dashboard/strings/monitors.ts";
import { Refusal, requireRead } from "#control-plane/http/errors.ts";
import { whenGone } from "#control-plane/http/gone.ts";
import { refuseProblem, requireWritten, type Written } from "#control-plane/http/written.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { parseCreation } from "#control-plane/monitors/settings/parse.ts";
import type { MonitorView } from "#control-plane/monitors/view.ts";
import type { Trials } from "#control-plane/monitors/try/try.ts";

/** Dependencies of pasting. */
interface PasteDeps {
  readonly door: Door;
  readonly monitors: Monitors;
  readonly trials: Trials;
  readonly writes: MemberWrites;
}

/** Registers the page where up to fifty addresses are pasted, tried, and created. */
export function registerPaste(scope: FastifyInstance, deps: PasteDeps): void {
  const { door } = deps;
  scope.route({
    ...door.page({ needs: "write" }),
    url: "/app/monitors/paste",
    schema: { hide: true },
    handler: (request, reply) => sendPaste(request, reply, { text: "", tags: "", problem: null }),
  });
  scope.route({
    ...door.form({ needs: "write" }),
    url: "/app/monitors/paste",
    schema: { hide: true },
    async handler(request, reply) {
      const form = readForm(request);
      const [text, tags, does] = [form.text("lines"), form.text("tags"), form.text("do")];
      const lines = readLines(text);
      const problem = lines === null ? PASTE.tooMany : lines.length === 0 ? PASTE.none : null;
      if (lines === null || problem !== null || does === "back") {
        return sendPaste(request, reply.code(problem === null ? 200 : 400), { text, tags, problem });
      }
      try {
        if (does !== "create") {
          const { formToken } = memberOf(request);
          const tried = await tryLines(
            deps,
            { accountId: memberOf(request).accountId, signal: whenGone(reply) },
            lines,
            tags,
          );
          return await sendBody(request, reply, renderPasteResults({ text, tags, formToken }, tried));
        }
        // A line is created once, however often a request names it.
        const indices = new Set(form.list("line"));
        const chosen = lines.filter((_, index) => indices.has(String(index)));
        return await createLines(deps, request, reply, chosen, tags);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const { status, message, details } = error;
        return sendPaste(request, reply.code(status).headers(details.headers ?? {}), { text, tags, problem: message });
      }
    },
  });
}

/** Tries every line as the monitor that it would be. */
async function tryLines(
  { trials }: PasteDeps,
  trier: { readonly accountId: number; readonly signal: AbortSignal },
  lines: readonly PastedLine[],
  tags: string,
): Promise<readonly TriedLine[]> {
  const read = lines.map((line) => givenOf(line, tags));
  const fit = read.flatMap((one) => (one.ok ? [one.value] : []));
  const results = [...requireWritten(await trials.tryMonitors(trier, fit))];
  return lines.map((line, index): TriedLine => {
    const given = read[index];
    const result = given?.ok === true ? results.shift() : given;
    if (result === undefined || !result.ok) return { line, state: null, message: result?.refusal.message ?? "" };
    const { tried } = result.value;
    return { line, state: tried.verdict, message: tried.cause?.message ?? "" };
  });
}

/** Creates a monitor for each line, all or none. */
async function createLines(
  { monitors, writes }: PasteDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  lines: readonly PastedLine[],
  tags: string,
): Promise<FastifyReply> {
  const { accountId } = memberOf(request);
  const givens = lines.map((line) => requireWritten(givenOf(line, tags)));
  const ran = await writes.run(request, async (tx) => {
    const created: MonitorView[] = [];
    // oxlint-disable-next-line no-await-in-loop -- one connection
    for (const given of givens) created.push(requireWritten(await monitors.create(tx, accountId, given)));
    return { data: created.length, changes: created.map((monitor) => changeOf(monitor, "created")) };
  });
  if (!ran.ok) throw ran.refusal;
  return reply.redirect("/app/monitors?sort=newest&done=pasted", 303);
}

function givenOf(line: PastedLine, tags: string): Written<Given> {
  const words = tags.split(/[\s,]+/).filter((tag) => tag !== "");
  const read = parseCreation(bodyOf(line, words), "current");
  return read.ok ? { ok: true, value: requireRead(read) } : refuseProblem(read.problem);
}

function sendPaste(
  request: FastifyRequest,
  reply: FastifyReply,
  form: { readonly text: string; readonly tags: string; readonly problem: string | null },
): Promise<FastifyReply> {
  return sendBody(request, reply, renderPaste({ ...form, formToken: memberOf(request).formToken }));
}

function sendBody(request: FastifyRequest, reply: FastifyReply, body: string): Promise<FastifyReply> {
  const session = memberOf(request);
  return sendPage(request, reply, { title: PASTE.title, session, section: "monitors", body, isForm: true });
}
