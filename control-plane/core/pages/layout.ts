import { hash } from "node:crypto";
import { html, trusted, type Html } from "#control-plane/core/pages/html.ts";
import { TOKENS } from "#control-plane/core/pages/tokens.ts";

const STYLE = [
  TOKENS,
  "body{font:16px/1.5 system-ui,sans-serif;margin:0;color:var(--ink);background:var(--page);overflow-wrap:anywhere}",
  ".top{display:flex;flex-wrap:wrap;gap:0 1rem;justify-content:space-between;padding:0 1rem;background:var(--card);border-bottom:1px solid var(--line)}.top a{padding:.75rem 0}.brand{font-weight:700;color:var(--ink);text-decoration:none}",
  "main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 4rem}",
  "a{color:var(--accent)}h1{font-size:1.6rem;line-height:1.3}h2{font-size:1.1rem;margin:1.8rem 0 .4rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}",
  ".faint{color:var(--faint)}.verdict{font-weight:bold;text-transform:uppercase}",
  ".good{color:var(--good)}.warning{color:var(--warn)}.bad{color:var(--bad)}.neutral{color:var(--faint)}",
  ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}caption{text-align:left}",
  "th,td{text-align:left;vertical-align:top;padding:.25rem 1rem .25rem 0;border-bottom:1px solid var(--line)}",
  "th{font-weight:normal;color:var(--faint)}.facts th,.bars th{width:30%}.number{text-align:right}.bars .number{width:1%;white-space:nowrap}.scroll td{min-width:4.5rem}",
  "svg{display:block}rect{fill:var(--accent)}.findings{list-style:none;padding:0}.findings li{margin:.8rem 0;padding-left:.8rem;border-left:3px solid}.findings p{margin:.2rem 0;color:var(--ink)}",
  "input,select,button{font:inherit;max-width:100%;box-sizing:border-box;padding:.5rem .75rem;color:var(--ink);background:var(--card);border:1px solid var(--edge);border-radius:.5rem}button{color:var(--on-accent);background:var(--accent);border-color:transparent;font-weight:600}",
  "pre{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem}summary{cursor:pointer;margin:.5rem 0}",
].join("");

const STYLE_HTML = trusted(STYLE);
const STYLE_HASH = `'sha256-${hash("sha256", STYLE, "base64")}'`;

/** Content-Security-Policy of all pages: it allows their style and nothing else. */
export const PAGE_POLICY = `default-src 'none'; style-src ${STYLE_HASH}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Head of a page. */
interface PageHead {
  readonly title: string;
  /** Seconds after which a browser loads the page again; null for never. */
  readonly refreshSeconds: number | null;
  /** Who is signed in, by email; null: nobody. Absent: the page does not know. */
  readonly member?: string | null;
}

/** Renders a whole document, with a way to the dashboard. */
export function renderDocument({ title, refreshSeconds, member }: PageHead, body: Html): Html {
  const way =
    member === null ? { path: "/sign-in", label: "Sign in" } : { path: "/app/", label: member ?? "Dashboard" };
  return html`
    <!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title} - Vantage</title>
    <meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
    ${refreshSeconds !== null && html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
    <style>${STYLE_HTML}</style></head><body>
    <header class="top"><a class="brand" href="/">Vantage</a><a href="${way.path}">${way.label}</a></header><main>
    ${body}</main></body></html>`;
}

/** Renders a page with a heading and one sentence. `way`: where it leads on; default: to the first page of the service. */
export function renderMessage(
  heading: string,
  message: string,
  way = { path: "/", label: "To the first page of this service" },
): Html {
  const body = html`<h1>${heading}</h1><p>${message}</p><p><a href="${way.path}">${way.label}</a></p>`;
  return renderDocument({ title: heading, refreshSeconds: null }, body);
}
