import { hash } from "node:crypto";
import { compileTemplate } from "#control-plane/pages/templates.ts";

const STYLE =
  ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}" +
  "table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.25rem .5rem;" +
  "border-bottom:1px solid #ddd;overflow-wrap:anywhere}th{font-weight:normal;color:#555;width:40%}" +
  "input,select,button{font:inherit;max-width:100%;box-sizing:border-box;padding:.25rem .5rem}pre{overflow-x:auto}" +
  "@media(prefers-color-scheme:dark){body{color:#eee;background:#151515}th{color:#aaa}th,td{border-color:#333}a{color:#8bf}}";

const STYLE_HASH = `'sha256-${hash("sha256", STYLE, "base64")}'`;

/** Content-Security-Policy of all pages: it allows their style and nothing else. */
export const PAGE_POLICY = `default-src 'none'; style-src ${STYLE_HASH}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Head of a page. */
interface PageHead {
  readonly title: string;
  /** Seconds after which a browser loads the page again; null for never. */
  readonly refreshSeconds: number | null;
}

const renderHead: (head: PageHead) => string = compileTemplate(`
<!doctype html><html lang="en"><head><meta charset="utf-8"><title><%= it.title %> - Vantage</title>
<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<% if (it.refreshSeconds !== null) { %><meta http-equiv="refresh" content="<%= it.refreshSeconds %>"><% } %>
<style>${STYLE}</style></head><body>
`);

/** Renders a whole document. `body` is HTML that a compiled template has written. */
export function renderDocument(head: PageHead, body: string): string {
  return `${renderHead(head)}${body}</body></html>\n`;
}

const renderSentence: (page: { readonly heading: string; readonly message: string }) => string = compileTemplate(
  "<h1><%= it.heading %></h1><p><%= it.message %></p>",
);

/** Renders a page with a heading and one sentence, for errors. */
export function renderMessage(heading: string, message: string): string {
  return renderDocument({ title: heading, refreshSeconds: null }, renderSentence({ heading, message }));
}
