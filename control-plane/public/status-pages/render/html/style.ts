import { createHash } from "node:crypto";
import { CHART_STYLE } from "#control-plane/core/charts/style.ts";
import { TOKENS } from "#control-plane/core/pages/tokens.ts";
import { accentOf, DARK_GROUND } from "#control-plane/public/status-pages/render/accent.ts";

// One short class for each kind of element, because a page with 10 monitors has 900 bars. Colours have a contrast of at
// least 4.5 to the surfaces that they are on, in both colour schemes; colours of bars have 3, but for the pale ones of days
// without data, which stand back. Nothing moves. A logo is drawn for light grounds, so that it has one in the dark scheme too.
const SOURCE = `
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
overflow-wrap:anywhere}
header,main,footer{max-width:60rem;margin:auto;padding:0 1rem}
h1,h2,h3,h4,p,ul,ol{margin:0;padding:0}
ul,ol{list-style:none}
[dir]{text-align:left}
h1{font-size:clamp(1.5rem,1.2rem + 1.5vw,2.25rem);line-height:1.2;letter-spacing:-.02em}
h2{font-size:1.125rem;margin:2.5rem 0 .75rem}
h3,h4{font-size:1rem;font-weight:600}
header{padding-top:clamp(1.5rem,4vw,3.5rem);padding-bottom:1.5rem}
header{display:flex;flex-wrap:wrap;gap:.25rem 2rem;justify-content:space-between;align-items:baseline}
header p{flex-basis:100%}
.n{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem}
.logo{display:block;max-width:100%;height:auto;margin-bottom:.25rem;box-sizing:content-box}
@media screen and (prefers-color-scheme:dark){.logo{background:#f6f8fa;border-radius:6px;padding:.375rem .5rem}}
.w{color:var(--faint)}
a{color:var(--accent);text-underline-offset:.2em}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:4px}
.k{position:absolute;left:1rem;top:-9rem;background:var(--card);padding:.5rem 1rem;z-index:2}
.k:focus{top:1rem}
.x{display:none}
.i{width:1em;height:1em;fill:currentColor;flex:none}
section.b{display:flex;gap:1rem;align-items:center;color:#fff;background:var(--b);border:1px solid transparent;border-radius:12px;padding:1.25rem 1.5rem}
.b .i{width:2.25rem;height:2.25rem}
.b h2{margin:0;font-size:clamp(1.25rem,1rem + 1.2vw,1.625rem);line-height:1.25}
.b p{font-size:.875rem}
.b a,.h a{color:inherit}
.b.up{--b:#1a7f37}.b.deg{--b:#8a5d00}.b.out{--b:#bc4c00}.b.dn{--b:#b31d28}.b.mt{--b:#0969da}.b.un{--b:#59636e}
.s{display:flex;gap:.75rem;background:var(--warn-soft);border:2px solid var(--warn);border-radius:12px;padding:1rem 1.25rem;
margin-bottom:1rem}
.s .i{width:1.5rem;height:1.5rem;color:var(--warn)}
.s h2{margin:0;font-size:1rem}
[hidden]{display:none}
.c{background:var(--card);border:1px solid var(--line);border-radius:12px;overflow:hidden}
.c>li{padding:1.125rem 1.25rem}
.c>li+li{border-top:1px solid var(--line)}
.z>*{color:var(--ink)}
summary{cursor:pointer}
time{white-space:nowrap}
summary h3{display:inline}
.r{display:grid;grid-template-columns:minmax(0,1fr) auto auto;gap:.25rem 1.5rem;align-items:center}
.r .t{order:1}
.r .d{order:2}
.t{display:flex;gap:.4em;align-items:center;font-weight:600;white-space:nowrap}
.up{color:var(--good)}.deg{color:var(--warn)}.out{color:var(--serious)}.dn{color:var(--bad)}.mt{color:var(--info)}
.un{color:var(--faint)}
.f{color:var(--faint);font-size:.875rem}
.f b{color:var(--ink);font-weight:600;white-space:nowrap}
.d{grid-column:1/-1;display:flex;gap:2px;height:2.5rem;margin:.25rem 0 1.25rem;position:relative}
.d:before,.d:after{position:absolute;top:100%;font-size:.75rem;color:var(--faint);padding-top:.2rem}
.d:before{content:"90 days ago"}
.d:after{content:"Today";right:0}
.d li,.l i{flex:1;--c:var(--good);--h:70%;background:linear-gradient(var(--c),var(--c)) bottom/100% var(--h) no-repeat;
forced-color-adjust:none}
.d .p,.l .p{--h:85%;background:linear-gradient(var(--warn) 40%,var(--good) 0) bottom/100% var(--h) no-repeat}
.d .o,.l .o{--c:var(--bad);--h:100%}
.d .m,.l .m{background:repeating-linear-gradient(0deg,var(--info) 0 4px,transparent 0 6px) bottom/100% var(--h) no-repeat}
.d .n,.l .n{--c:var(--line);--h:100%}
.d p{position:absolute;left:0;right:0;top:100%;font-size:.75rem;text-align:center;clip-path:inset(50%);height:1px;
overflow:hidden;white-space:nowrap}
.d li:hover{outline:2px solid var(--ink)}
.d li:hover p{clip-path:none;height:auto;background:var(--card);padding-top:.2rem;z-index:1}
.l{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;font-size:.8125rem;color:var(--faint);margin:1rem 0 .5rem}
.l li{display:flex;gap:.4rem;align-items:center}
.l i{width:8px;height:1.25rem;flex:none}
.v{font-size:.875rem;color:var(--faint);display:flex;gap:.5rem;align-items:center}
.v input{width:1.1rem;height:1.1rem;margin:0;accent-color:var(--accent)}
main:has(#v:checked) .d{display:block;height:auto;columns:15rem;margin:.5rem 0 .25rem}
main:has(#v:checked) .d:before,main:has(#v:checked) .d:after{display:none}
main:has(#v:checked) .d li{background:none;outline:0;border-left:4px solid var(--c);margin-bottom:2px}
main:has(#v:checked) .d .p{--c:var(--warn)}
main:has(#v:checked) .d .m{--c:var(--info)}
main:has(#v:checked) .d p{position:static;clip-path:none;height:auto;text-align:left;padding:0 0 0 .5rem;white-space:normal}
.e{display:grid;gap:.25rem}
.e.z{border-left:4px solid currentColor}
.e :is(h3,h4) a{color:inherit;text-decoration-color:var(--edge)}
.e :is(h3,h4) a:hover{text-decoration-color:currentColor}
.h{font-weight:600}
.q{margin-top:1rem;padding-left:1rem}
.q.z>*{color:var(--ink)}
.l1{margin:1rem 0}
main>.f,main>nav{margin-top:1.5rem}
.e.a{display:flex;flex-wrap:wrap;gap:.125rem 1rem;align-items:baseline;padding-top:.75rem;padding-bottom:.75rem}
.e.a ol{flex-basis:100%}
.u{margin-top:.5rem;display:grid;gap:.75rem}
.u li{border-left:2px solid var(--line);padding-left:.875rem}
.w,.m,.e .f,.u p{white-space:pre-line}
.y{font-size:.9375rem;font-weight:600;color:var(--faint);margin:1.25rem 0 .5rem}
.g{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:.25rem}
label{display:block}
input[type=email]{font:inherit;color:inherit;background:var(--card);border:1px solid var(--edge);border-radius:8px;
padding:.5rem .75rem;flex:1 1 12rem;min-width:0;max-width:24rem}
button{font:inherit;font-weight:600;color:var(--on-accent);background:var(--accent);border:1px solid transparent;
border-radius:8px;padding:.5rem 1rem;cursor:pointer}
footer{margin-top:3rem;padding-bottom:3rem;font-size:.875rem;color:var(--faint)}
footer>*{margin-top:1rem}
nav p{color:var(--faint);font-size:.875rem;margin-top:1rem}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem}
nav a{display:inline-block;padding:.25rem 0}
@media(max-width:40rem){.d{gap:1px}.c>li,section.b{padding:1rem}.r{grid-template-columns:minmax(0,1fr) auto}
.r .f{order:1;grid-column:1/-1}}
@media(max-width:30rem){.r{column-gap:.75rem}.d{gap:0}}
@media print{:root{color-scheme:light;--page:#fff}.k,.v,form{display:none}.c,.b,.e{break-inside:avoid}
.d li,.l i,.b{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;

/** The style of public pages, on one line. */
export const STYLE = TOKENS + SOURCE.replaceAll("\n", "");

/** Source expression of the style for a Content-Security-Policy: it allows this style and no other. */
export const STYLE_HASH = hashOf(STYLE);

/** Source expression of the style of charts. */
export const CHART_STYLE_HASH = hashOf(CHART_STYLE);

/** Returns the style of a page with an accent colour (#rrggbb), which comes after STYLE. */
export function accentStyleOf(colour: string): string {
  const { light, dark } = accentOf(colour);
  return (
    `:root{--accent:${light}}body{border-top:.25rem solid var(--accent)}` +
    `@media screen and (prefers-color-scheme:dark){:root{--accent:${dark};--on-accent:${DARK_GROUND}}}`
  );
}

/** Returns the source expression of a style. */
export function hashOf(style: string): string {
  return `'sha256-${createHash("sha256").update(style).digest("base64")}'`;
}
