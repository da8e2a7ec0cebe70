import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import { present } from "#shared/presentation/present.ts";
import type { Contract } from "#shared/tools/define.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { createDocument, sendDocument } from "#control-plane/http/operations/document.ts";
import { PAGE_POLICY } from "#control-plane/core/pages/frame.ts";
import { renderAnswer, renderHome, renderProblem } from "#control-plane/surfaces/home/page.ts";
import { openTools, pathOf, type OpenTool } from "#control-plane/surfaces/open-tier/offered-tools.ts";
import { dataOf, type OpenChecks } from "#control-plane/surfaces/open-tier/open-checks.ts";
import { readOpenRequest } from "#control-plane/surfaces/open-tier/read-request.ts";

/** The form sends its fields to this service. */
const POLICY = PAGE_POLICY.replace("form-action 'none'", "form-action 'self'");
const TYPE = "text/html; charset=utf-8";

/** Dependencies of the first page. */
interface HomeDeps {
  readonly open: OpenChecks;
  readonly clock: Clock;
  /** Address of this service, without a slash at its end. */
  readonly baseUrl: string;
  /** Finds who is signed in, by email; null: nobody. */
  readonly memberOf: (request: FastifyRequest) => Promise<string | null>;
}

/**
 * Creates the answer of the service's root for browsers: its first page, and the result of the page's form (?tool=&q=),
 * which counts as a call of the open tier. Returns null for other clients.
 */
export function createHome(
  contracts: readonly Contract[],
  { open, clock, baseUrl, memberOf }: HomeDeps,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | null {
  const tools = openTools(contracts);
  const page = createDocument(renderHome(tools, open.allowance, { baseUrl, member: null }), { type: TYPE });

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
      return reply.type(TYPE).send(renderAnswer(form, present(tool.contract, data, clock.now()), `${baseUrl}${path}`));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return reply
        .code(error.status)
        .headers(error.details.headers ?? {})
        .type(TYPE)
        .send(renderProblem(form, error.details.message));
    }
  }

  async function first(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const member = await memberOf(request);
    if (member === null) return sendDocument(request, reply, page);
    const html = renderHome(tools, open.allowance, { baseUrl, member });
    return sendDocument(request, reply, createDocument(html, { type: TYPE, cacheControl: "private, no-store" }));
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
