import { hash } from "node:crypto";
import { compileTemplate } from "#control-plane/pages/templates.ts";

/** Colours of both schemes have a contrast of 4.5 and more on their background (WCAG 2.2, 1.4.3). */
const STYLE = [
  ":root{color-scheme:light dark;--ink:#1a1a1a;--paper:#fff;--faint:#595959;--line:#ddd;--link:#0b57d0;--good:#1a7f37;--warning:#8a5a00;--bad:#b3261e;--neutral:#595959;--bar:#4a78c2}",
  "@media(prefers-color-scheme:dark){:root{--ink:#eee;--paper:#151515;--faint:#aaa;--line:#333;--link:#8bf;--good:#6fdd8b;--warning:#f5c451;--bad:#ff8a80;--neutral:#aaa;--bar:#8bb8ff}}",
  "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:var(--ink);background:var(--paper);overflow-wrap:anywhere}",
  "a{color:var(--link)}h1{font-size:1.6rem;line-height:1.3}h2{font-size:1.1rem;margin:1.8rem 0 .4rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}",
  ".faint{color:var(--faint)}.verdict{font-weight:bold;text-transform:uppercase}",
  ...["good", "warning", "bad", "neutral"].map((tone) => `.${tone}{color:var(--${tone})}`),
  ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}caption{text-align:left}",
  "th,td{text-align:left;vertical-align:top;padding:.25rem 1rem .25rem 0;border-bottom:1px solid var(--line)}",
  "th{font-weight:normal;color:var(--faint)}.facts th,.bars th{width:30%}.number{text-align:right}.bars .number{width:1%;white-space:nowrap}.scroll td{min-width:4.5rem}",
  "svg{display:block}rect{fill:var(--bar)}.findings{list-style:none;padding:0}.findings li{margin:.8rem 0;padding-left:.8rem;border-left:3px solid}.findings p{margin:.2rem 0;color:var(--ink)}",
  "input,select,button{font:inherit;max-width:100%;box-sizing:border-box;padding:.25rem .5rem}pre{overflow-x:auto}summary{cursor:pointer;margin:.5rem 0}",
].join("");

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
