import { CHART_STYLE } from "#control-plane/core/charts/style.ts";
import { html, trusted, type Html } from "#control-plane/core/pages/html.ts";
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
  /** Address of the document; null if it has none that search engines should know. */
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

const CSS = trusted(STYLE);
const CHART_CSS = trusted(CHART_STYLE);

/** Renders a document with its visible content. */
export function renderDocument(head: Head, body: Html): Html {
  const { title, description, preview, canonical, base, site, isRefreshed, hasCharts = false } = head;
  const { accentColor } = head.look;
  return html`
    <!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
    <meta name="viewport" content="width=device-width,initial-scale=1">
    <meta name="description" content="${description}">
    ${site !== null && html`<meta property="og:title" content="${site}"><meta property="og:description" content="${preview}">`}
    ${canonical === null ? html`<meta name="robots" content="noindex">` : html`<link rel="canonical" href="${canonical}">`}
    <link rel="icon" type="image/svg+xml" href="${iconOf(head.overallStatus)}">
    ${site !== null && renderAlternates(base)}
    ${isRefreshed && html`<noscript><meta http-equiv="refresh" content="300"></noscript><script type="module" src="${REFRESH_PATH}"></script>`}
    <style>${CSS}</style>${hasCharts && html`<style>${CHART_CSS}</style>`}
    ${accentColor !== null && html`<style>${accentStyleOf(accentColor)}</style>`}</head><body>${SHAPES}
    ${body}</body></html>`;
}

/** Renders links to the other forms of a page. */
function renderAlternates(base: string): Html {
  return html`
    <link rel="alternate" type="application/rss+xml" title="RSS" href="${base}/feed.rss">
    <link rel="alternate" type="application/atom+xml" title="Atom" href="${base}/feed.atom">
    <link rel="alternate" type="application/feed+json" title="JSON Feed" href="${base}/feed.json">
    <link rel="alternate" type="application/json" title="Summary" href="${base}/summary.json">
    <link rel="alternate" type="image/svg+xml" title="Badge" href="${base}/badge.svg">`;
}

/** Renders the title of a page, or its logo in place of it. `base`: the path of the page. */
export function renderTitle({ logo }: PageLook, title: string, base: string): Html {
  if (logo === null) return html`${title}`;
  const src = logo.src.startsWith("data:") ? logo.src : `${base}${logo.src}`;
  return html`<img class="logo" src="${src}" alt="${title}" width="${logo.width}" height="${logo.height}">`;
}

/**
 * Renders a page below a status page, with a link to it at the top. What has no address of its own has no times either.
 */
export function renderBelow(head: Head, body: Html): Html {
  const { base, site, look, canonical } = head;
  return renderDocument(
    head,
    html`
      <a class="k" href="#main">Skip to the content</a>
      <header>${site !== null && html`<p class="h"><a href="${homeOf(base)}" dir="auto">${renderTitle(look, site, base)}</a></p>`}</header>
      <main id="main">
      ${body}</main>${canonical !== null && html`<footer><p>All times are in UTC.</p></footer>`}`,
  );
}

/** Returns the path of a status page as a link to it. */
export function homeOf(base: string): string {
  return base === "" ? "/" : base;
}
