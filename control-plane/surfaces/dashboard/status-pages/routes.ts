import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { parseParams } from "#shared/schema/schema.ts";
import type { Change } from "#control-plane/http/access/changes.ts";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { acceptFiles } from "#control-plane/surfaces/dashboard/session-guard/files.ts";
import { readForm, type Form } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { problemsOf } from "#control-plane/surfaces/dashboard/layout/problems.ts";
import { findOwn, idOf, type WithId } from "#control-plane/surfaces/dashboard/status-pages/own-page.ts";
import { registerRemoval } from "#control-plane/surfaces/dashboard/status-pages/removal.ts";
import { renderPageForm, type PageForm } from "#control-plane/surfaces/dashboard/status-pages/render.ts";
import {
  NEW_PAGE,
  toBody,
  toChange,
  typedIn,
  typedOf,
  type TypedPage,
} from "#control-plane/surfaces/dashboard/status-pages/values.ts";
import { Refusal, refuseField, requireRead } from "#control-plane/http/errors.ts";
import { requireWritten, type Written } from "#control-plane/http/written.ts";
import { MOST_LOGO_BYTES, readLogo } from "#control-plane/public/status-pages/logos/logo.ts";
import { type Given, type ShownPage, statusPage } from "#control-plane/public/status-pages/settings/resource.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";
import { createDocument, sendDocument } from "#control-plane/http/operations/document.ts";
import { PAGE_POLICY, renderMessage } from "#control-plane/core/pages/layout.ts";
import type { PageView } from "#control-plane/public/status-pages/page.ts";
import { previewPolicyOf } from "#control-plane/public/status-pages/render/html/frame.ts";
import { renderPage } from "#control-plane/public/status-pages/render/html/page.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

const NONE: ReadonlyMap<string, string> = new Map();
const URL_OF_PAGE = "/app/status-pages/:id";

/** Registers the pages that create, change, preview and delete a status page. */
export function registerStatusPageForm(scope: FastifyInstance, deps: Dashboard): void {
  // In a scope of its own: other forms take no files.
  void scope.register(async (inner) => {
    acceptFiles(inner, { mostFileBytes: MOST_LOGO_BYTES, prove: (request, token) => deps.guard.prove(request, token) });
    registerCreation(inner, deps);
    registerEdit(inner, deps);
    registerPreviews(inner, deps);
  });
  registerRemoval(scope, deps);
}

function registerCreation(scope: FastifyInstance, deps: Dashboard): void {
  const { guard, statusPages: pages, writes } = deps;
  const url = "/app/status-pages/new";
  scope.route({
    ...guard.page({ needs: "write" }),
    url,
    schema: { hide: true },
    handler: (request, reply) =>
      sendForm(request, reply, deps, { page: null, typed: NEW_PAGE, find: "", problems: NONE }),
  });
  scope.route({
    ...guard.form({ needs: "write" }),
    url,
    schema: { hide: true },
    handler: (request, reply) =>
      orAgain(request, reply, deps, { page: null, typed: typedIn(readForm(request)) }, async (typed) => {
        const { accountId } = memberOf(request);
        const given = readCreation(typed);
        const ran = await writes.run(request, async (tx) => {
          const { id, change } = requireWritten(await pages.create(tx, accountId, given));
          return { data: id, changes: [change] };
        });
        if (!ran.ok) throw ran.refusal;
        return reply.redirect(`/app/status-pages/${ran.data}?done=page_created`, 303);
      }),
  });
}

function registerEdit(scope: FastifyInstance, deps: Dashboard): void {
  const { guard, statusPages: pages, writes } = deps;
  scope.route<WithId>({
    ...guard.page({ needs: "write" }),
    url: URL_OF_PAGE,
    schema: { hide: true },
    async handler(request, reply) {
      const page = await findOwn(request, deps);
      const typed = typedOf(page, await namesOf(request, deps));
      return sendForm(request, reply, deps, { page, typed, find: "", problems: NONE });
    },
  });
  const save = async (request: FastifyRequest, reply: FastifyReply, page: ShownPage, given: Given, done: string) => {
    const own = { accountId: memberOf(request).accountId, id: page.id };
    const ran = await writes.run(request, async (tx) => {
      const { change } = requireWritten(await pages.change(tx, own, given));
      return { data: null, changes: [change] as readonly Change[] };
    });
    if (!ran.ok) throw ran.refusal;
    return reply.redirect(`/app/status-pages/${page.id}?done=${done}`, 303);
  };
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: URL_OF_PAGE,
    schema: { hide: true },
    async handler(request, reply) {
      const page = await findOwn(request, deps);
      const before = typedOf(page, await namesOf(request, deps));
      return orAgain(request, reply, deps, { page, typed: typedIn(readForm(request)) }, (typed) =>
        save(request, reply, page, readChange(typed, before), "page_saved"),
      );
    },
  });
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: `${URL_OF_PAGE}/domain`,
    schema: { hide: true },
    async handler(request, reply) {
      const page = await findOwn(request, deps);
      // A domain that is sent again has its record looked for at once.
      return save(request, reply, page, { domain: page.domain }, "domain_asked");
    },
  });
}

function registerPreviews(scope: FastifyInstance, deps: Dashboard): void {
  const { guard, statusPages: pages } = deps;
  scope.route({
    ...guard.form({ needs: "write" }),
    url: "/app/status-pages/new/preview",
    schema: { hide: true },
    handler: (request, reply) =>
      sendPreview(request, reply, async () =>
        pages.preview(memberOf(request).accountId, null, readCreation(typedIn(readForm(request)))),
      ),
  });
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: `${URL_OF_PAGE}/preview`,
    schema: { hide: true },
    handler: (request, reply) =>
      sendPreview(request, reply, async () => {
        const page = await findOwn(request, deps);
        const before = typedOf(page, await namesOf(request, deps));
        const given = readChange(typedIn(readForm(request)), before);
        return pages.preview(memberOf(request).accountId, page.id, given);
      }),
  });
  scope.route<WithId>({
    ...guard.page({ needs: "read" }),
    url: `${URL_OF_PAGE}/preview`,
    schema: { hide: true },
    handler: (request, reply) =>
      sendPreview(request, reply, () => pages.preview(memberOf(request).accountId, idOf(request), {})),
  });
}

/** Runs what a form asks for: a save, or a look at the form with its rows added, moved or removed. */
async function orAgain(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Dashboard,
  shown: Pick<PageForm, "page" | "typed">,
  save: (typed: TypedPage) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const form = readForm(request);
  const again = { ...shown, find: form.text("find") };
  if (!asksToSave(form)) return sendForm(request, reply, deps, { ...again, problems: problemsOfLogo(shown.typed) });
  try {
    return await save(shown.typed);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status === 404) throw error;
    reply.code(error.status).headers(error.details.headers ?? {});
    return sendForm(request, reply, deps, { ...again, problems: problemsOf(error) });
  }
}

/** Returns what is wrong with a logo that was chosen: it would not be there any more at the save. */
function problemsOfLogo({ logo }: TypedPage): ReadonlyMap<string, string> {
  const read = logo === null ? null : readLogo(logo);
  return read?.ok === false ? problemsOf(refuseField(read.problem)) : NONE;
}

/** Reports whether a form is to be saved: Enter in a field saves it too, unless that searches or names a new group. */
function asksToSave(form: Form): boolean {
  const isDone = form.text("find") === form.text("found") && form.text("new_group") === "";
  return form.text("do") === "save" || (form.text("do") === "enter" && isDone);
}

async function sendForm(
  request: FastifyRequest,
  reply: FastifyReply,
  { sql, statusPages: pages, overviews }: Dashboard,
  form: Omit<PageForm, "monitors" | "logo" | "formToken" | "canManage">,
): Promise<FastifyReply> {
  const session = memberOf(request);
  const monitors = await overviews.of(session.accountId);
  const body = renderPageForm({
    ...form,
    monitors,
    logo: form.page === null ? null : await pages.logoOf(sql, form.page),
    formToken: session.formToken,
    canManage: isAllowed(session.role, "manage"),
  });
  const title = form.page?.title ?? "Create a page";
  return sendPage(request, reply, { title, session, section: "status-pages", body, isForm: true, hasFrame: true });
}

function readCreation(typed: TypedPage): Given {
  return requireRead(parseParams(statusPage.create, toBody(typed), { from: "json", unknown: "refuse" }));
}

function readChange(typed: TypedPage, before: TypedPage): Given {
  return requireRead(parseParams(statusPage.change, toChange(typed, before), { from: "json", unknown: "refuse" }));
}

async function namesOf(request: FastifyRequest, { overviews }: Dashboard): Promise<ReadonlyMap<number, string>> {
  const monitors = await overviews.of(memberOf(request).accountId);
  return new Map(monitors.flatMap(({ id, name }) => (name === null ? [] : [[id, name]])));
}

/** Policy of a sentence in place of the page, in the same frame. */
const PROBLEM_POLICY = PAGE_POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'");

/** Sends a status page as it would be, for the frame below its form; what is refused is a sentence in the frame. */
async function sendPreview(
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
    return await sendDocument(request, reply, createDocument(String(page), { type, cacheControl: "no-store" }));
  } catch (error) {
    if (!(error instanceof Refusal) || error.status === 404) throw error;
    reply.code(error.status).header("content-security-policy", PROBLEM_POLICY);
    return reply.send(String(renderMessage("There is no preview", error.message)));
  }
}
