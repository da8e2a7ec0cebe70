import { listLeaves } from "#shared/leaves.ts";
import type { PublicMeasurement } from "#control-plane/measurements/public.ts";

/** Lines of one location's table; the whole answer is in the JSON. */
const MOST_ROWS = 400;
/** Leaves of one location's answer that are counted at all. */
const MOST_LEAVES = 50_000;
const MOST_TEXT = 500;

/** The only style and script policy these pages live under: the style below and nothing else. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}" +
  "table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.25rem .5rem;" +
  "border-bottom:1px solid #ddd;overflow-wrap:anywhere}th{font-weight:normal;color:#555;width:40%}" +
  "@media(prefers-color-scheme:dark){body{color:#eee;background:#151515}th{color:#aaa}th,td{border-color:#333}a{color:#8bf}}";

/** Text for an element's content or a quoted attribute. */
export function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}

/** The page of a shared measurement: complete without script, every word of a target's escaped. */
export function renderPage(shown: PublicMeasurement): string {
  const heading = shown.target === null ? shown.title : `${shown.title}: ${shown.target}`;
  const running = shown.finished_at === null;
  const facts = [
    ["Tool", shown.tool],
    ...Object.entries(shown.params).map(([name, value]) => [name, textOf(value)] as const),
    ["Status", running ? `${shown.status}, ${shown.completed} of ${shown.total} locations` : shown.status],
    ["Asked", shown.created_at],
    ...(shown.finished_at === null ? [] : [["Finished", shown.finished_at] as const]),
  ] as const;
  const summary = shown.data.locations.length > 1 ? `<h2>Summary</h2>${table(rowsOf(shown.data.summary))}` : "";
  const link = `<p><a href="/s/${escapeHtml(encodeURIComponent(shown.share_id ?? ""))}?format=json">The same as JSON</a></p>`;
  return document(
    heading,
    `<h1>${escapeHtml(clip(heading))}</h1>${table(facts)}${summary}${shown.data.locations.map(section).join("")}${link}`,
    running,
  );
}

/** A page of one sentence, for errors. */
export function renderMessage(heading: string, message: string): string {
  return document(heading, `<h1>${escapeHtml(heading)}</h1><p>${escapeHtml(message)}</p>`, false);
}

type Row = PublicMeasurement["data"]["locations"][number];

function section(row: Row): string {
  const { region, city, country, asn } = row.location;
  const where = [region, city, country, asn === null ? null : `AS${asn}`].filter((part) => part !== null).join(", ");
  const content =
    row.status === "ok"
      ? table(rowsOf(row.data))
      : `<p>Failed: ${escapeHtml(clip(row.error.message))}</p>${table(rowsOf({ ...row.error, message: undefined }))}`;
  return `<h2>From ${escapeHtml(clip(where))}</h2><p>Took ${row.duration_ms} ms.</p>${content}`;
}

function table(rows: readonly (readonly [string, string])[]): string {
  const lines = rows
    .slice(0, MOST_ROWS)
    .map(
      ([name, value]) => `<tr><th scope="row">${escapeHtml(clip(name))}</th><td>${escapeHtml(clip(value))}</td></tr>`,
    );
  const more = rows.length > MOST_ROWS ? `<p>${rows.length - MOST_ROWS} more lines are in the JSON.</p>` : "";
  return `<table><tbody>${lines.join("")}</tbody></table>${more}`;
}

/** The leaves of a value as rows of a table; fields without a value are left out. */
function rowsOf(value: unknown): readonly (readonly [string, string])[] {
  const { leaves } = listLeaves(value, MOST_LEAVES);
  return leaves.flatMap(([path, leaf]) => {
    if (leaf === undefined) return [];
    if (typeof leaf !== "object" || leaf === null) return [[path, textOf(leaf)] as const];
    return [[path, Array.isArray(leaf) ? "none" : "-"] as const];
  });
}

function textOf(value: unknown): string {
  if (value === null) return "unknown";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function clip(text: string): string {
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)} ...` : text;
}

function document(title: string, body: string, running: boolean): string {
  const refresh = running ? '<meta http-equiv="refresh" content="5">' : "";
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(clip(title))} - Vantage</title>` +
    `<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">${refresh}` +
    `<style>${STYLE}</style></head><body>${body}</body></html>\n`
  );
}
