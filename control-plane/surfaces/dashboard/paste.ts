import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { Refusal, requireRead } from "#control-plane/http/errors.ts";
import { whenGone } from "#control-plane/http/gone.ts";
import { refuseProblem, requireWritten, type Written } from "#control-plane/http/written.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { parseCreation } from "#control-plane/monitors/settings/parse.ts";
import type { MonitorView } from "#control-plane/monitors/serialize.ts";
import { renderInput } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { STATE_LABELS } from "#control-plane/surfaces/dashboard/monitors/labels.ts";
import type { ListedState } from "#control-plane/monitors/overview.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

const TOO_MANY = "These are more than 50 lines. Paste the rest afterwards.";

/** Registers the page where up to fifty addresses are pasted, tried, and created. */
export function registerPaste(scope: FastifyInstance, deps: Dashboard): void {
  const { guard } = deps;
  scope.route({
    ...guard.page({ needs: "write" }),
    url: "/app/monitors/paste",
    schema: { hide: true },
    handler: (request, reply) => sendPaste(request, reply, { text: "", tags: "", problem: null }),
  });
  scope.route({
    ...guard.form({ needs: "write" }),
    url: "/app/monitors/paste",
    schema: { hide: true },
    async handler(request, reply) {
      const form = readForm(request);
      const [text, tags, does] = [form.text("lines"), form.text("tags"), form.text("do")];
      const lines = readLines(text);
      const problem = lines === null ? TOO_MANY : lines.length === 0 ? "Paste at least one address." : null;
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
  { trials }: Dashboard,
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
  { monitors, writes }: Dashboard,
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

function sendBody(request: FastifyRequest, reply: FastifyReply, body: Html): Promise<FastifyReply> {
  const session = memberOf(request);
  return sendPage(request, reply, { title: "Paste addresses", session, section: "monitors", body, isForm: true });
}

/** What the first page of pasting shows. */
interface PasteForm {
  readonly text: string;
  readonly tags: string;
  readonly problem: string | null;
  readonly formToken: string;
}

/** Renders the page where addresses are pasted. */
function renderPaste({ text, tags, problem, formToken }: PasteForm): Html {
  const labels = { label: "Tags for all of them", hint: "Words with spaces between them" };
  return html`
    <h1>Paste addresses</h1>
    <p>One a line, at most 50: a URL, a site, or host:port. What follows the address becomes the name. Each is tried first.</p>
    ${problem !== null && html`<p class="note bad" role="alert">${problem}</p>`}
    <form class="stack" method="post" action="/app/monitors/paste">
      <input type="hidden" name="_csrf" value="${formToken}">
      <div class="field">
        <label for="f-lines">Addresses</label>
        <textarea id="f-lines" name="lines" rows="12" maxlength="100000" required autofocus autocapitalize="none" spellcheck="false">
          ${text}</textarea>
      </div>
      ${renderInput({ name: "tags", ...labels, value: tags })}
      <div class="row"><button class="primary" name="do" value="try">Try them</button> <a href="/app/monitors">Cancel</a></div>
    </form>`;
}

/** A pasted address with what its try has found. */
interface TriedLine {
  readonly line: PastedLine;
  /** null if it cannot be a monitor, as `message` says. */
  readonly state: ListedState | null;
  readonly message: string;
}

/** Renders what the tries of pasted addresses have found; those that work are chosen. */
function renderPasteResults({ text, tags, formToken }: Omit<PasteForm, "problem">, tried: readonly TriedLine[]): Html {
  return html`
    <h1>What the tries have found</h1>
    <p>Those that work are chosen. Choose others if they will work later.</p>
    <form class="stack" method="post" action="/app/monitors/paste">
      <input type="hidden" name="_csrf" value="${formToken}">
      <input type="hidden" name="lines" value="${text}">
      <div class="scroll" role="group" tabindex="0" aria-label="What the tries have found">
        <table class="cards">
          <thead><tr><th scope="col">Create</th><th scope="col">Address</th><th scope="col">Result</th></tr></thead>
          <tbody>${tried.map(renderTriedLine)}</tbody>
        </table>
      </div>
      <input type="hidden" name="tags" value="${tags}">
      <div class="row"><button class="primary" name="do" value="create">Create the chosen monitors</button> <button name="do" value="back">Change the lines</button></div>
    </form>`;
}

function renderTriedLine({ line, state, message }: TriedLine, index: number): Html {
  const { word, tone } = state === null ? { word: "Not possible", tone: "bad" } : STATE_LABELS[state];
  const isChosen = state === "up" || state === "degraded";
  return html`
    <tr>
      <td>${state !== null && html`<input type="checkbox" id="c-${index}" name="line" value="${index}"${isChosen && html` checked`}>`}</td>
      <td><label for="c-${index}">${line.address}</label> <span class="faint">${line.name}</span></td>
      <td><span class="badge ${tone}">${word}</span> ${message}</td>
    </tr>`;
}

/** Maximum number of addresses that are pasted at once. */
const MOST_LINES = 50;

/** An address that was pasted, with the name that follows it. */
interface PastedLine {
  readonly address: string;
  /** Empty: the monitor is named by its address. */
  readonly name: string;
}

/**
 * Reads pasted lines: an address, then a name if there is more. Empty lines, and those that begin with "#", are skipped.
 * Returns null if there are more than MOST_LINES. Pure.
 */
function readLines(text: string): readonly PastedLine[] | null {
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  return lines.length > MOST_LINES ? null : lines.map(readLine);
}

function readLine(line: string): PastedLine {
  const [address = "", ...rest] = line.split(/[\s,;]+/);
  return { address, name: rest.join(" ") };
}

/** Returns the body of the creation of a monitor for an address: a URL or a site is http, host:port a TCP port. Pure. */
function bodyOf({ address, name }: PastedLine, tags: readonly string[]): Record<string, unknown> {
  const named = { ...(name === "" ? {} : { name }), ...(tags.length === 0 ? {} : { tags }), notify_email: true };
  const port = /^([^/:]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})$/.exec(address);
  if (port === null) return { url: address, check_type: "http", ...named };
  const [, host = "", number = ""] = port;
  return { url: host.replaceAll(/[[\]]/g, ""), check_type: "port", port: Number(number), ...named };
}
