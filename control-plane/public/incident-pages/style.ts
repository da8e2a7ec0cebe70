import { createHash } from "node:crypto";
import { TOKENS } from "#control-plane/core/pages/tokens.ts";
import { trusted } from "#control-plane/core/pages/html.ts";

// For a phone in the dark: large text, one column, few colours.
const SOURCE = `
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
overflow-wrap:anywhere}
header{color:#fff;background:#59636e;padding:1rem}
header.down{background:#b31d28}
header.up{background:#1a7f37}
header.warn{background:#8a5d00}
header>*,main{max-width:50rem;margin-left:auto;margin-right:auto}
h1{font-size:1.5rem;line-height:1.25;margin-top:0;margin-bottom:0}
header p{margin-top:.5rem;margin-bottom:0}
main{padding:0 1rem 3rem}
h2{font-size:1.125rem;margin:2rem 0 .5rem}
summary{font-size:1.125rem;font-weight:600;padding:.75rem 0;cursor:pointer}
details{border-top:1px solid var(--line);margin-top:1rem}
table{border-collapse:collapse;width:100%;margin:1rem 0;background:var(--card)}
th,td{text-align:left;vertical-align:top;padding:.375rem .5rem;border-bottom:1px solid var(--line);white-space:pre-line;
min-width:5.5rem}
th{font-weight:normal;color:var(--faint)}
.facts th{width:9rem}
[scope=rowgroup]{font-weight:600;padding-top:1rem}
img{display:block;max-width:100%;height:auto;border:1px solid var(--line);background:#fff}
figure{margin:1rem 0}
figcaption,.m{color:var(--faint)}
button{font:inherit;font-weight:600;color:var(--on-accent);background:var(--accent);border:1px solid transparent;border-radius:8px;
padding:.75rem 1.25rem;width:100%;cursor:pointer}
form{margin:1rem 0}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
@media(max-width:40rem){table,tbody,th,td{display:block}thead{position:absolute;clip-path:inset(50%)}
tr{display:flex;flex-wrap:wrap;gap:.25rem 1rem;padding:.375rem .5rem;border-bottom:1px solid var(--line)}
th,td{border:0;padding:0;min-width:0}td:empty{display:none}td:last-child{flex:1 1 9rem}.facts th{flex:0 0 6.5rem}.facts td{flex-basis:12rem}
td[data-label]:before{content:attr(data-label) "\\a0";color:var(--faint)}}
`;

/** The style on one line. */
const CSS = TOKENS + SOURCE.replaceAll("\n", "");

/** The style of the pages. */
export const STYLE = trusted(CSS);

/** Content-Security-Policy of the pages: this style and no other, pictures and the form of this service, nothing else. */
export const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(CSS).digest("base64")}'`,
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");
