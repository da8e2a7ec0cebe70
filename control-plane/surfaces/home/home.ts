import type { FastifyReply, FastifyRequest } from "fastify";
import type { Contract } from "#shared/tools/define.ts";
import { createDocument, sendDocument } from "#control-plane/http/operations/document.ts";
import type { AnonymousAllowance } from "#control-plane/limits/anonymous.ts";
import { PAGE_POLICY } from "#control-plane/pages/frame.ts";
import { renderHome } from "#control-plane/surfaces/home/page.ts";
import { openTools, pathOf } from "#control-plane/surfaces/open-tier/offered-tools.ts";

/** The form sends its fields to this service, which redirects to a tool of the open tier. */
const POLICY = PAGE_POLICY.replace("form-action 'none'", "form-action 'self'");

/** Settings of the first page. */
interface HomeOptions {
  readonly allowance: AnonymousAllowance;
  /** Address of this service, without a slash at its end. */
  readonly baseUrl: string;
}

/**
 * Creates the answer of the service's root: its first page for browsers, and for the page's form (?tool=&q=) a redirect to
 * the call of the open tier. Returns null for other clients.
 */
export function createHome(
  contracts: readonly Contract[],
  { allowance, baseUrl }: HomeOptions,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | null {
  const tools = openTools(contracts);
  const page = createDocument(renderHome(tools, allowance, baseUrl), { type: "text/html; charset=utf-8" });
  return (request, reply) => {
    if (!/\btext\/html\b/i.test(request.headers.accept ?? "")) return null;
    const { tool: name, q } = request.query as { readonly tool?: unknown; readonly q?: unknown };
    const tool = tools.find((known) => known.name === name);
    reply.header("content-security-policy", POLICY);
    if (tool === undefined || typeof q !== "string" || q.trim() === "") return sendDocument(request, reply, page);
    return redirect(reply, pathOf(tool.name, tool.q, [], { [tool.q]: q.trim() }));
  };
}

async function redirect(reply: FastifyReply, path: string): Promise<FastifyReply> {
  return reply.redirect(path, 303);
}
