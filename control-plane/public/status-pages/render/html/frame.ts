import { CHART_STYLE } from "#control-plane/core/charts/style.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type { PageLook } from "#control-plane/public/status-pages/look.ts";
import type { OverallStatus, PageView } from "#control-plane/public/status-pages/page.ts";
import { iconOf, SHAPES } from "#control-plane/public/status-pages/render/html/marks.ts";
import { REFRESH_PATH } from "#control-plane/public/status-pages/browser/scripts.ts";
import {
  accentStyleOf,
  CHART_STYLE_HASH,
  hashOf,
  STYLE,
  STYLE_HASH,
} from "#control-plane/public/status-pages/render/html/style.ts";

/**
 * Content-Security-Policy of a page before it is saved, which the dashboard shows in a frame: without scripts and forms.
 */
export function previewPolicyOf(look: Pick<PageView, "accentColor" | "responses">): string {
  return `default-src 'none'; ${stylesOf(look)}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox`;
}

/**
 * Content-Security-Policy of a page and of those below it: their own styles, the icon in its head, its
 * logo, the scripts of pages (browser/scripts.ts) and what they fetch, and a form of its own if it has one.
 */
export function policyOf({
  canSubscribe,
  accentColor,
  responses = null,
}: Pick<PageView, "accentColor" | "canSubscribe"> & Partial<Pick<PageView, "responses">>): string {
  const form = canSubscribe ? "'self'" : "'none'";
  const script = "script-src 'self'; connect-src 'self'";
  return `default-src 'none'; ${script}; ${stylesOf({ accentColor, responses })}; img-src 'self' data:; base-uri 'none'; form-action ${form}; frame-ancestors 'none'`;
}

function stylesOf({ accentColor, responses }: Pick<PageView, "accentColor" | "responses">): string {
  const styles = [
    STYLE_HASH,
    ...(responses === null ? [] : [CHART_STYLE_HASH]),
    ...(accentColor === null ? [] : [hashOf(accentStyleOf(accentColor))]),
  ];
  return `style-src ${styles.join(" ")}`;
}

/** What the heads of a page and of those below it have in common. */
interface Head {
  /** Title of the document. */
  readonly title: string;
  readonly description: string;
  /** Sentence below the title in previews of other sites. */
  readonly preview: string;
  /** Address of the document; null: it has none that search engines should know. */
  readonly canonical: string | null;
  /** Path of the page, without a slash at its end. */
  readonly base: string;
  /** Title of the page; null: the document belongs to none. */
  readonly site: string | null;
  readonly look: PageLook;
  readonly overallStatus: OverallStatus;
  /** Whether the document is kept fresh while somebody reads it. */
  readonly isRefreshed: boolean;
  /** Whether it has charts. Default: it has none. */
  readonly hasCharts?: boolean;
}

const renderHeadOf: (head: Head & { readonly icon: string; readonly accent: string }) => string = compileTemplate(`
<!doctype html><html lang="en"><head><meta charset="utf-8"><title><%= it.title %></title>
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="description" content="<%= it.description %>">
<% if (it.site !== null) { %><meta property="og:title" content="<%= it.site %>"><meta property="og:description" content="<%= it.preview %>"><% } %>
<% if (it.canonical === null) { %><meta name="robots" content="noindex"><% } else { %><link rel="canonical" href="<%= it.canonical %>"><% } %>
<link rel="icon" type="image/svg+xml" href="<%= it.icon %>">
<% if (it.site !== null) { %><link rel="alternate" type="application/rss+xml" title="RSS" href="<%= it.base %>/feed.rss">
<link rel="alternate" type="application/atom+xml" title="Atom" href="<%= it.base %>/feed.atom">
<link rel="alternate" type="application/feed+json" title="JSON Feed" href="<%= it.base %>/feed.json">
<link rel="alternate" type="application/json" title="Summary" href="<%= it.base %>/summary.json">
<link rel="alternate" type="image/svg+xml" title="Badge" href="<%= it.base %>/badge.svg"><% } %>
<% if (it.isRefreshed) { %><noscript><meta http-equiv="refresh" content="300"></noscript><script type="module" src="${REFRESH_PATH}"></script><% } %>
<style>${STYLE}</style><% if (it.hasCharts) { %><style>${CHART_STYLE}</style><% } %><% if (it.accent !== "") { %><style><%= it.accent %></style><% } %></head><body>${SHAPES}
`);

/** Opens a document up to its visible content. */
export function renderHead(head: Head): string {
  const { accentColor } = head.look;
  const accent = accentColor === null ? "" : accentStyleOf(accentColor);
  return renderHeadOf({ ...head, icon: iconOf(head.overallStatus), accent });
}

/** Part of a template: the logo in `it.logo`, in place of the title. */
export const LOGO = `<img class="logo" src="<%= it.logo.src %>" alt="<%= it.logo.title %>" width="<%= it.logo.width %>" height="<%= it.logo.height %>">`;

/** What LOGO needs; null: there is no logo. */
export interface LogoImage {
  readonly src: string;
  /** Title of the page. */
  readonly title: string;
  readonly width: number;
  readonly height: number;
}

/** Returns what LOGO needs. `base`: the path of the page. */
export function logoImageOf({ logo }: PageLook, title: string, base: string): LogoImage | null {
  if (logo === null) return null;
  return { ...logo, src: logo.src.startsWith("data:") ? logo.src : `${base}${logo.src}`, title };
}

const renderTop: (frame: {
  readonly home: string;
  readonly site: string | null;
  readonly logo: LogoImage | null;
}) => string = compileTemplate(`
<a class="k" href="#main">Skip to the content</a>
<header><% if (it.site !== null) { %><p class="h"><a href="<%= it.home %>" dir="auto"><% if (it.logo !== null) { %>${LOGO}<% } else { %><%= it.site %><% } %></a></p><% } %></header>
<main id="main">
`);

/**
 * Renders a page below a status page, with a link to it at the top. `body` is HTML that a compiled template has written;
 * what has no address of its own has no times either.
 */
export function renderBelow(head: Head, body: string): string {
  const home = head.base === "" ? "/" : head.base;
  const footer = head.canonical === null ? "" : "<footer><p>All times are in UTC.</p></footer>";
  return `${renderHead(head)}${renderTop({ home, site: head.site, logo: logoImageOf(head.look, head.site ?? "", head.base) })}${body}</main>${footer}</body></html>\n`;
}
