import type { FastifyReply, FastifyRequest } from "fastify";
import { present } from "#shared/tools/present.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { App } from "#control-plane/core/app.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { createDocument, sendDocument } from "#control-plane/http/operations/document.ts";
import { PAGE_POLICY, renderDocument } from "#control-plane/core/pages/layout.ts";
import { openTools, pathOf, type OpenTool } from "#control-plane/surfaces/open-tier/offered-tools.ts";
import { dataOf, type OpenChecks } from "#control-plane/surfaces/open-tier/open-checks.ts";
import { readOpenRequest } from "#control-plane/surfaces/open-tier/read-request.ts";
import { fitPresentation } from "#shared/presentation/fit.ts";
import type { Presentation } from "#shared/presentation/presentation.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import type { AnonymousAllowance } from "#control-plane/http/limits/anonymous.ts";
import { renderHeading, renderPresentation } from "#control-plane/core/pages/presentation.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** The form sends its fields to this service. */
const POLICY = PAGE_POLICY.replace("form-action 'none'", "form-action 'self'");
const TYPE = "text/html; charset=utf-8";

/**
 * Creates the answer of the service's root for browsers: its first page, and the result of the page's form (?tool=&q=),
 * which counts as a call of the open tier. Returns null for other clients. `baseUrl` is the address of the service,
 * without a slash at its end. `memberOf` finds the email of who is signed in; null: nobody.
 */
export function createHome(
  contracts: readonly Contract[],
  {
    open,
    clock,
    baseUrl,
    memberOf,
  }: Pick<App, "clock"> & {
    readonly open: OpenChecks;
    readonly baseUrl: string;
    readonly memberOf: (request: FastifyRequest) => Promise<string | null>;
  },
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | null {
  const tools = openTools(contracts);
  const page = createDocument(String(renderHome(tools, open.allowance, { baseUrl, member: null })), { type: TYPE });

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    tool: OpenTool,
    q: string,
  ): Promise<FastifyReply> {
    const form = { tools, tool: tool.name, q, member: await memberOf(request) };
    try {
      const refusal = open.take(request, reply);
      if (refusal !== null) throw refusal;
      const { params } = readOpenRequest(request, tool);
      const data = dataOf(await open.ask(tool, params), tool, params);
      const path = pathOf(tool.name, tool.q, tool.extra, params);
      const shown = present(tool.contract, data, clock.now());
      return reply.type(TYPE).send(String(renderAnswer(form, shown, `${baseUrl}${path}`)));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return reply
        .code(error.status)
        .headers(error.details.headers ?? {})
        .type(TYPE)
        .send(String(renderProblem(form, error.details.message)));
    }
  }

  async function first(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const member = await memberOf(request);
    if (member === null) return sendDocument(request, reply, page);
    const home = renderHome(tools, open.allowance, { baseUrl, member });
    return sendDocument(
      request,
      reply,
      createDocument(String(home), { type: TYPE, cacheControl: "private, no-store" }),
    );
  }

  return (request, reply) => {
    if (!/\btext\/html\b/i.test(request.headers.accept ?? "")) return null;
    const { tool: name, q } = request.query as { readonly tool?: unknown; readonly q?: unknown };
    const tool = tools.find((known) => known.name === name);
    reply.header("content-security-policy", POLICY);
    if (tool === undefined || typeof q !== "string" || q.trim() === "") return first(request, reply);
    return answer(request, reply.header("cache-control", "no-store"), tool, q.trim());
  };
}

/** Text of a result on the page, in characters; the JSON has all. */
const MOST_RESULT = 20_000;

/** The form with its last values. */
interface Form {
  readonly tools: readonly OpenTool[];
  /** Name of the selected tool. */
  readonly tool: string;
  readonly q: string;
  /** Who is signed in; null: nobody. */
  readonly member: string | null;
}

/**
 * Renders the first page of the service: what it is, a form for the tools without a key, and how to get a key. `member`: who
 * is signed in, null: nobody.
 */
function renderHome(
  tools: readonly OpenTool[],
  { requestsPerMinute, requestsPerDay }: AnonymousAllowance,
  { baseUrl, member }: { readonly baseUrl: string; readonly member: string | null },
): Html {
  const useKey = `curl -H "X-API-Key: $KEY" "${baseUrl}/api/v4/check?url=example.com"`;
  const body = html`
    <h1>Vantage</h1><p>This service examines web sites, hosts, names and mail, and monitors them, from probes in one or many places. It tells people when something fails, and shows on status pages what works.</p>
    <h2>Check something now</h2>
    ${renderForm({ tools, tool: "", q: "" })}
    <p>This needs no key. One address can check ${requestsPerMinute} times a minute and
    ${requestsPerDay} times a day. <a href="/api/open">The same for a terminal</a></p>
    <h2>Get a key</h2>
    <p>A key opens all tools with all their parameters, several places at once, monitors, status pages and webhooks. The operator
    of this service creates one, where the service runs:</p>
    <pre role="group" tabindex="0" aria-label="Create a key"><code>${LAUNCHER} keys create --plan pro</code></pre>
    <p>Send it with each request:</p>
    <pre role="group" tabindex="0" aria-label="Use a key"><code>${useKey}</code></pre>
    <h2>Read on</h2>
    <ul><li><a href="/docs">All operations of the API</a></li>
    <li><a href="/openapi.json">The same as an OpenAPI document</a></li></ul>`;
  return renderDocument({ title: "Diagnostics and monitoring", refreshSeconds: null, member }, body);
}

function renderForm({ tools, tool: selected, q }: Omit<Form, "member">): Html {
  const options = tools.map(
    ({ name, contract }) =>
      html`<option value="${name}"${name === selected && html` selected`}>${contract.title}</option>`,
  );
  return html`
    <form method="get" action="/">
    <p><label for="tool">Tool</label><br><select id="tool" name="tool">${options}</select></p>
    <p><label for="q">Target: a URL, a host name or an address</label><br>
    <input id="q" name="q" value="${q}" required maxlength="2000" size="40" autocomplete="off" autocapitalize="none" spellcheck="false"></p>
    <p><button>Check</button></p>
    </form>`;
}

/** Renders the result of the form above the form. `url`: the same call of the open tier. */
function renderAnswer(form: Form, shown: Presentation, url: string): Html {
  const result = html`
    ${renderHeading(shown)}${renderPresentation(fitPresentation(shown, MOST_RESULT).shown)}
    <h2>All data</h2><p><a href="${url}&amp;format=json">This answer as JSON</a></p>
    <p>In a terminal:</p><pre role="group" tabindex="0" aria-label="In a terminal"><code>${`curl "${url}"`}</code></pre>`;
  return renderResult(form, shown.headline, result);
}

/** Renders the form with the reason why there is no result. */
function renderProblem(form: Form, message: string): Html {
  const heading = renderHeading({ verdict: "neutral", headline: "No result" });
  return renderResult(form, "No result", html`${heading}<p class="bad">${message}</p>`);
}

function renderResult(form: Form, title: string, result: Html): Html {
  const body = html`${result}<h2>Check something else</h2>${renderForm(form)}`;
  return renderDocument({ title, refreshSeconds: null, member: form.member }, body);
}
