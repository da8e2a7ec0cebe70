// Colours of states are tokens (core/pages/tokens.ts). The colours of lines are those of Okabe and Ito, darker or lighter where
// their contrast to the background would be below 3. Each line has dashes of its own besides.
const SOURCE = `
.cl{--c1:#0072b2;--c2:#c44e00;--c3:#007a5a;--c4:#a8518a;--c5:#3a3a3a;--c6:#8a7000}
@media screen and (prefers-color-scheme:dark){.cl{--c1:#56b4e9;--c2:#ff9a52;--c3:#2fc79a;--c4:#e39ac5;--c5:#e6e6e6;
--c6:#f0e442}}
.cb{display:block;width:100%;height:1.25rem;forced-color-adjust:none}
.cb48,.cb90{--n:100%/48;mask:repeating-linear-gradient(90deg,#000 0 calc(var(--n)*.8),#0000 calc(var(--n)*.8) calc(var(--n)))}
.cb90{--n:100%/90}
.cu{fill:var(--good)}.cg{fill:var(--warn)}.cd{fill:var(--bad)}.cn{fill:var(--edge)}
.cm{stroke:var(--info);stroke-width:14;stroke-dasharray:.35 .15}
.cl{margin:0;color:var(--faint);container-type:inline-size}
.cl>svg{display:block;box-sizing:border-box;width:calc(100% - 5rem);margin-left:3.5rem;overflow:visible;
forced-color-adjust:none}
.cl text{fill:currentColor;font-size:12px}
.cl svg path{fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round;
vector-effect:non-scaling-stroke}
.cl svg .cx{stroke:var(--line);stroke-width:1}
.cl svg .ci{fill:var(--bad);fill-opacity:.18;stroke:none}
.cl svg .cw{stroke:var(--info);stroke-opacity:.35;stroke-width:100;stroke-dasharray:5 5;stroke-linecap:butt;
vector-effect:none}
.cl svg .ch{stroke-width:1;stroke-opacity:.5}
.cl svg .ca{fill:currentColor;fill-opacity:.2;stroke:none}
${["", "7 4", "2 4", "10 4 2 4", "4 3", "12 5 4 5"]
  .map(
    (dashes, index) =>
      `.cl .c${index + 1}{color:var(--c${index + 1})${dashes === "" ? "" : `;stroke-dasharray:${dashes}`}}`,
  )
  .join("")}
.cl ul{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;list-style:none;margin:.5rem 0;padding:0;font-size:.875rem}
.cl li svg{display:inline-block;width:2rem;height:.5rem;margin-right:.5rem;vertical-align:middle}
.cl li b{color:var(--ink);font-weight:600}
.cl p,.cl details{font-size:.875rem;margin:.5rem 0}
.cl details>div{overflow-x:auto}
.cl th,.cl td{text-align:right;padding:.1rem .75rem .1rem 0;white-space:nowrap;font-weight:400}
.cl caption,.cl th:first-child{text-align:left}
@media(max-width:40rem){.cb90{mask:none}}
@container (max-width:40rem){.cl .co{display:none}}
`;

/** The style of charts, on one line: for the style of a page that has charts. It has no id, and classes of one prefix. */
export const CHART_STYLE = SOURCE.replaceAll("\n", "");

/** Number of series that the style can tell apart. */
export const MOST_SERIES = 6;
