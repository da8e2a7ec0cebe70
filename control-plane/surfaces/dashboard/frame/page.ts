import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ASSETS_PATH } from "#control-plane/surfaces/dashboard/frame/assets.ts";
import { viewerTimeOf } from "#control-plane/surfaces/dashboard/frame/times.ts";
import { DONE, FRAME } from "#control-plane/surfaces/dashboard/strings/frame.ts";
import { createDocument, sendDocument } from "#control-plane/http/operations/document.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";
import type { Session } from "#control-plane/people/users/sessions.ts";

/** Sections of the dashboard, in the order of the navigation. */
const SECTIONS = [
  { name: "monitors", label: FRAME.monitors, path: "/app/monitors" },
  { name: "incidents", label: FRAME.incidents, path: "/app/incidents" },
  { name: "maintenance", label: FRAME.maintenance, path: "/app/maintenance" },
  { name: "status-pages", label: FRAME.statusPages, path: "/app/status-pages" },
  { name: "tools", label: FRAME.tools, path: "/app/tools" },
] as const;

/** A section of the dashboard. */
type Section = (typeof SECTIONS)[number]["name"];

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
  /** null: nobody is signed in. */
  readonly session: Session | null;
  readonly section?: Section;
  /** Content of <main>, as compiled templates have written it. */
  readonly body: string;
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

interface Link {
  readonly label: string;
  readonly path: string;
  readonly isCurrent: boolean;
}

interface Frame {
  readonly title: string;
  readonly links: readonly Link[];
  readonly session: Session | null;
  readonly menu: readonly Link[];
  readonly width: string;
  readonly live: number | null;
  readonly done: string | null;
}

const renderTop: (frame: Frame) => string = compileTemplate(`
<!doctype html><html lang="en"><head><meta charset="utf-8"><title><%= it.title %> - ${FRAME.brand}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<link rel="stylesheet" href="${ASSETS_PATH}/style.css"><link rel="icon" href="${ASSETS_PATH}/icon.svg" type="image/svg+xml">
<script type="module" src="${ASSETS_PATH}/live.js"></script><script type="module" src="${ASSETS_PATH}/controls.js"></script></head><body>
<a class="skip" href="#main">${FRAME.skip}</a>
<header class="top"><a class="brand" href="<%= it.session === null ? "/" : "/app/" %>">${FRAME.brand}</a>
<% if (it.session !== null) { %>
<nav aria-label="${FRAME.main}"><% for (const link of it.links) { %><a href="<%= link.path %>"<% if (link.isCurrent) { %> aria-current="page"<% } %>><%= link.label %></a><% } %></nav>
<details class="menu"><summary><%= it.session.email %></summary><div>
<% for (const link of it.menu) { %><a href="<%= link.path %>"<% if (link.isCurrent) { %> aria-current="page"<% } %>><%= link.label %></a><% } %>
<form method="post" action="/sign-out"><input type="hidden" name="_csrf" value="<%= it.session.formToken %>"><button class="plain">${FRAME.signOut}</button></form>
</div></details>
<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">${FRAME.keysTitle}</h2><dl>
<dt><kbd>/</kbd></dt><dd>${FRAME.keySearch}</dd><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>${FRAME.keyRows}</dd><dt><kbd>?</kbd></dt><dd>${FRAME.keyHelp}</dd></dl>
<form method="dialog"><button>${FRAME.close}</button></form></dialog>
<% } %>
</header><% if (it.live !== null) { %><template id="ended"><p class="note bad ended" role="alert">${FRAME.signedOut} <a href="">${FRAME.signIn}</a></p></template><% } %>
<main id="main" tabindex="-1" class="<%= it.width %>"<% if (it.live !== null) { %> data-live="<%= it.live %>"<% } %>>
<% if (it.live !== null) { %><p class="note bad" id="lost" role="status" hidden>${FRAME.lost}</p><% } %>
<% if (it.done !== null) { %><p class="note good flash" role="status"><%= it.done %></p><% } %>
`);

/** Renders a page. The address of the request may have, as "done", the code of what a form has done. */
function renderPage({ body, ...page }: DashboardPage, request: Address): string {
  return `${renderBeginning(page, request)}${body}${renderEnd(page)}`;
}

const renderZone: (of: { readonly zone: string }) => string = compileTemplate(
  `<footer><p class="faint">${FRAME.zone} <a href="/app/profile#time-zone"><%= it.zone %></a>.</p></footer>`,
);

/** Renders the end of a page, which names the zone of its times. */
function renderEnd({ session }: Pick<DashboardPage, "session">): string {
  const zone = session === null ? "" : renderZone({ zone: viewerTimeOf(session).zone.name });
  return `</main>${zone}</body></html>\n`;
}

function renderBeginning(page: Omit<DashboardPage, "body">, { query, url }: Address): string {
  const { done } = query as { readonly done?: unknown };
  const [current = ""] = url.split("?", 1);
  const { title, session, section, liveSeconds = null, isNarrow = false, isForm = false } = page;
  return renderTop({
    title,
    session,
    width: isNarrow ? "narrow" : isForm ? "form" : "",
    live: liveSeconds,
    links: SECTIONS.map(({ name, label, path }) => ({ label, path, isCurrent: name === section })),
    menu: session === null ? [] : menuOf(session).map((link) => ({ ...link, isCurrent: link.path === current })),
    done: typeof done === "string" && Object.hasOwn(DONE, done) ? (DONE[done] ?? null) : null,
  });
}

function menuOf({ role }: Session): readonly Omit<Link, "isCurrent">[] {
  return [
    { label: FRAME.account, path: "/app/profile" },
    ...(isAllowed(role, "manage")
      ? [
          { label: FRAME.members, path: "/app/members" },
          { label: FRAME.keys, path: "/app/keys" },
        ]
      : []),
    { label: FRAME.changes, path: "/app/changes" },
  ];
}

/** Sends a page, compressed, with the headers of the dashboard. It has an entity tag for the refresh of open views. */
export function sendPage(request: FastifyRequest, reply: FastifyReply, page: DashboardPage): Promise<FastifyReply> {
  reply.headers(HEADERS);
  if (page.hasFrame === true) {
    reply.header("content-security-policy", `${HEADERS["content-security-policy"]}; frame-src 'self'`);
  }
  const document = createDocument(renderPage(page, request), {
    type: "text/html; charset=utf-8",
    cacheControl: "no-store",
  });
  return sendDocument(request, reply, document);
}

/** Sends a part of a page, which a script of the page puts in its place, with the headers of the dashboard. */
export function sendFragment(request: FastifyRequest, reply: FastifyReply, html: string): Promise<FastifyReply> {
  reply.headers(HEADERS);
  const document = createDocument(html, { type: "text/html; charset=utf-8", cacheControl: "no-store" });
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
    yield renderBeginning(page, request);
    yield* parts;
    yield renderEnd(page);
  }
  return reply
    .headers({ ...HEADERS, "cache-control": "no-store", connection: "close", "x-accel-buffering": "no" })
    .type("text/html; charset=utf-8")
    .send(Readable.from(pieces()));
}

const renderSentence: (page: {
  readonly heading: string;
  readonly message: string;
  readonly isInside: boolean;
}) => string = compileTemplate(`<h1><%= it.heading %></h1><p><%= it.message %></p>
<p><% if (it.isInside) { %><a href="/app/">${FRAME.back}</a><% } else { %><a href="/sign-in">${FRAME.signIn}</a><% } %></p>`);

/** Renders a page with a heading and one sentence, for errors, and sets the headers of the dashboard. */
export function renderProblemPage(
  request: FastifyRequest,
  reply: FastifyReply,
  heading: string,
  message: string,
): string {
  reply.headers(HEADERS).header("cache-control", "no-store").type("text/html; charset=utf-8");
  const session = request.session ?? null;
  const body = renderSentence({ heading, message, isInside: session !== null });
  return renderPage({ title: heading, session, body, isNarrow: true }, { query: {}, url: request.url });
}
