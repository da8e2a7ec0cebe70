import type { FastifyReply, FastifyRequest } from "fastify";
import { STATUS_PAGES } from "#control-plane/surfaces/dashboard/strings/status-pages.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { createDocument, sendDocument } from "#control-plane/http/operations/document.ts";
import { requireWritten, type Written } from "#control-plane/http/written.ts";
import { PAGE_POLICY, renderMessage } from "#control-plane/core/pages/frame.ts";
import type { PageView } from "#control-plane/public/status-pages/page.ts";
import { previewPolicyOf } from "#control-plane/public/status-pages/render/html/frame.ts";
import { renderPage } from "#control-plane/public/status-pages/render/html/page.ts";

/** Policy of a sentence in place of the page, in the same frame. */
const PROBLEM_POLICY = PAGE_POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'");

/** Sends a status page as it would be, for the frame below its form; what is refused is a sentence in the frame. */
export async function sendPreview(
  request: FastifyRequest,
  reply: FastifyReply,
  read: () => Promise<Written<PageView>>,
): Promise<FastifyReply> {
  const headers = { "cache-control": "no-store", "x-robots-tag": "noindex", "referrer-policy": "no-referrer" };
  const type = "text/html; charset=utf-8";
  reply.headers(headers).type(type);
  try {
    const view = requireWritten(await read());
    reply.header("content-security-policy", previewPolicyOf(view));
    const page = renderPage(view, `/status/${view.slug}`, false);
    return await sendDocument(request, reply, createDocument(page, { type, cacheControl: "no-store" }));
  } catch (error) {
    if (!(error instanceof Refusal) || error.status === 404) throw error;
    reply.code(error.status).header("content-security-policy", PROBLEM_POLICY);
    return reply.send(renderMessage(STATUS_PAGES.noPreview, error.message));
  }
}
