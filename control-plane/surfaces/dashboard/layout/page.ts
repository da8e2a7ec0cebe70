import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ASSETS_PATH } from "#control-plane/surfaces/dashboard/layout/assets.ts";
import { renderHidden } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { viewerTimeOf } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { placePaths } from "#control-plane/http/base-path.ts";
import { createDocument, sendDocument } from "#control-plane/http/operations/document.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";
import type { Session } from "#control-plane/people/users/sessions.ts";

/** What a page says after a form has done its work, by the code in the page's address. */
const DONE: Readonly<Record<string, string>> = {
  signed_out: "You are signed out.",
  created: "The monitor is created.",
  waiting: "The monitor is created. It waits for the first ping.",
  saved: "The monitor is saved.",
  pause: "The monitor is paused.",
  resume: "The monitor runs again.",
  pasted: "The monitors are created.",
  bulk: "The monitors are changed.",
  deleted: "The monitor is deleted.",
  muted: "The monitor is muted.",
  unmuted: "The maintenance has ended.",
  rotated: "The address is replaced. The old one does not work any more.",
  accepted: "The newest picture is accepted.",
  password: "Your password is changed. All other sessions have ended.",
  timezone: "Your time zone is saved.",
  session_ended: "The session has ended.",
  sessions_ended: "All other sessions have ended.",
  role: "The role is changed. The member signs in again.",
  member_removed: "The member is removed.",
  invite_revoked: "The invite does not work any more.",
  key_revoked: "The key is revoked.",
  incident_opened: "The incident is open.",
  incident_acknowledged: "The incident is acknowledged.",
  incident_unacknowledged: "The acknowledgement is taken back.",
  incident_noted: "The note is in the timeline.",
  incident_published: "The update is published.",
  incident_edited: "The incident is changed.",
  incident_resolved: "The incident is resolved.",
  window_created: "The maintenance is planned.",
  window_saved: "The maintenance is saved.",
  window_cancelled: "The maintenance is cancelled.",
  window_restored: "The maintenance is planned again.",
  window_deleted: "The maintenance is deleted.",
  page_created: "The page is created.",
  page_saved: "The page is saved.",
  page_deleted: "The page is deleted.",
  subscriber_removed: "The subscriber is removed.",
  domain_asked: "The record of the domain is looked for now.",
};

/** Sections of the dashboard, in the order of the navigation. */
const SECTIONS = [
  { name: "monitors", label: "Monitors", path: "/app/monitors" },
  { name: "incidents", label: "Incidents", path: "/app/incidents" },
  { name: "maintenance", label: "Maintenance", path: "/app/maintenance" },
  { name: "status-pages", label: "Status pages", path: "/app/status-pages" },
  { name: "tools", label: "Tools", path: "/app/tools" },
] as const;

/** A section of the dashboard. */
type Section = (typeof SECTIONS)[number]["name"];

/** Pages of the menu of a member, in its order. */
const MENU = [
  { label: "Your profile", path: "/app/profile", needs: "read" },
  { label: "Members", path: "/app/members", needs: "manage" },
  { label: "API keys", path: "/app/keys", needs: "manage" },
  { label: "Log of changes", path: "/app/changes", needs: "read" },
] as const;

/**
 * Content-Security-Policy of the dashboard: files of this service alone, forms that it receives itself. Pages need a
 * referrer of the same origin: with no-referrer, browsers send `Origin: null` with forms.
 */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "x-robots-tag": "noindex",
} as const;

/** A page of the dashboard. */
interface DashboardPage {
  /** Before " - Vantage" in the title of the tab. */
  readonly title: string;
  /** null if nobody is signed in. */
  readonly session: Session | null;
  readonly section?: Section;
  /** Content of <main>, as templates have written it. */
  readonly body: Html;
  /** Seconds between two refreshes while the tab is seen; default: none. */
  readonly liveSeconds?: number;
  /** A column of the width of a short form; default: false. */
  readonly isNarrow?: boolean;
  /** A column of the width of a long form; default: false. */
  readonly isForm?: boolean;
  /** Whether it has a frame with another page of the dashboard; default: false. */
  readonly hasFrame?: boolean;
}

/** The parts of a request's address that a page is rendered with. */
type Address = Pick<FastifyRequest, "query" | "url">;

/** Renders a page. The address of the request may have, as "done", the code of what a form has done. */
function renderPage(page: DashboardPage, { query, url }: Address): Html {
  const { title, session, section, body, liveSeconds, isNarrow = false, isForm = false } = page;
  const { done } = query as { readonly done?: unknown };
  const [current = ""] = url.split("?", 1);
  const isLive = liveSeconds !== undefined;
  return html`
    <!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title} - Vantage</title>
    <meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
    <link rel="stylesheet" href="${ASSETS_PATH}/style.css"><link rel="icon" href="${ASSETS_PATH}/icon.svg" type="image/svg+xml">
    <script type="module" src="${ASSETS_PATH}/live.js"></script><script type="module" src="${ASSETS_PATH}/controls.js"></script></head><body>
    <a class="skip" href="#main">Skip to the content</a>
    <header class="top"><a class="brand" href="${session === null ? "/" : "/app/"}">Vantage</a>
      ${session !== null && renderNavigation(session, section, current)}
    </header>
    ${isLive && html`<template id="ended"><p class="note bad ended" role="alert">You are signed out. <a href="">Sign in</a></p></template>`}
    <main id="main" tabindex="-1" class="${isNarrow ? "narrow" : isForm ? "form" : ""}"${isLive && html` data-live="${liveSeconds}"`}>
      ${isLive && html`<p class="note bad" id="lost" role="status" hidden>This page could not be refreshed. It shows how things were before.</p>`}
      ${typeof done === "string" && Object.hasOwn(DONE, done) && html`<p class="note good flash" role="status">${DONE[done]}</p>`}
      ${body}
    </main>${session !== null && renderFooter(session)}</body></html>`;
}

function renderFooter(session: Session): Html {
  const { name } = viewerTimeOf(session).zone;
  return html`<footer><p class="faint">Times are in <a href="/app/profile#time-zone">${name}</a>.</p></footer>`;
}

/** Renders the sections of the dashboard, the menu of the member, and the help about keys. */
function renderNavigation(session: Session, section: Section | undefined, current: string): Html {
  const menu = MENU.filter(({ needs }) => isAllowed(session.role, needs));
  return html`
    <nav aria-label="Main">${SECTIONS.map(({ name, label, path }) => renderLink(label, path, name === section))}</nav>
    <details class="menu"><summary>${session.email}</summary><div>
      ${menu.map(({ label, path }) => renderLink(label, path, path === current))}
      <form method="post" action="/sign-out">${renderHidden("_csrf", session.formToken)}<button class="plain">Sign out</button></form>
    </div></details>
    <dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2><dl>
      <dt><kbd>/</kbd></dt><dd>Go to the search</dd>
      <dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>Next and previous row</dd>
      <dt><kbd>?</kbd></dt><dd>Show these keys</dd></dl>
      <form method="dialog"><button>Close</button></form></dialog>`;
}

function renderLink(label: string, path: string, isCurrent: boolean): Html {
  return html`<a href="${path}"${isCurrent && html` aria-current="page"`}>${label}</a>`;
}

/** Marks where a content comes later. No value has it: "<" is escaped. */
const LATER = html`<!-- later -->`;

/** Renders what is before and what is after a content that comes later. */
export function renderAround(render: (later: Html) => Html): readonly [before: string, after: string] {
  const [before = "", after = ""] = String(render(LATER)).split(String(LATER), 2);
  return [before, after];
}

/** Sends a page, compressed, with the headers of the dashboard. It has an entity tag for the refresh of open views. */
export function sendPage(request: FastifyRequest, reply: FastifyReply, page: DashboardPage): Promise<FastifyReply> {
  reply.headers(HEADERS);
  if (page.hasFrame === true) {
    reply.header("content-security-policy", `${HEADERS["content-security-policy"]}; frame-src 'self'`);
  }
  const document = createDocument(String(renderPage(page, request)), {
    type: "text/html; charset=utf-8",
    cacheControl: "no-store",
  });
  return sendDocument(request, reply, document);
}

/** Sends a part of a page, which a script of the page puts in its place, with the headers of the dashboard. */
export function sendFragment(request: FastifyRequest, reply: FastifyReply, part: Html): Promise<FastifyReply> {
  reply.headers(HEADERS);
  const document = createDocument(String(part), {
    type: "text/html; charset=utf-8",
    cacheControl: "no-store",
  });
  return sendDocument(request, reply, document);
}

/**
 * Sends a page in pieces, each when it is there. It is not compressed, and a header keeps nginx from collecting it. The connection
 * ends with it: an idle one would delay the stop of the server. `parts` must not fail.
 */
export function sendPageInPieces(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Omit<DashboardPage, "body">,
  parts: AsyncIterable<string>,
): FastifyReply {
  async function* pieces(): AsyncGenerator<string> {
    const [before, after] = renderAround((body) => renderPage({ ...page, body }, request));
    yield placePaths(before, request.basePath);
    for await (const part of parts) yield placePaths(part, request.basePath);
    yield placePaths(after, request.basePath);
  }
  return reply
    .headers({ ...HEADERS, "cache-control": "no-store", connection: "close", "x-accel-buffering": "no" })
    .type("text/html; charset=utf-8")
    .send(Readable.from(pieces()));
}

/** Renders a page with a heading and one sentence, for errors, and sets the headers of the dashboard. */
export function renderProblemPage(
  request: FastifyRequest,
  reply: FastifyReply,
  heading: string,
  message: string,
): Html {
  reply.headers(HEADERS).header("cache-control", "no-store").type("text/html; charset=utf-8");
  const session = request.session ?? null;
  const body = html`
    <h1>${heading}</h1><p>${message}</p>
    <p>${session === null ? html`<a href="/sign-in">Sign in</a>` : html`<a href="/app/">Back to the monitors</a>`}</p>`;
  return renderPage({ title: heading, session, body, isNarrow: true }, { query: {}, url: request.url });
}
