import { listLeaves } from "#shared/leaves.ts";
import type { PublicMeasurement } from "#control-plane/measurements/public.ts";
import { renderDocument } from "#control-plane/pages/frame.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";

/** Lines of one location's table; the whole answer is in the JSON. */
const MOST_ROWS = 400;
/** Leaves of one location's answer that are counted at all. */
const MOST_LEAVES = 50_000;
const MOST_TEXT = 500;
/** A page whose measurement is still running loads itself again. */
const REFRESH_SECONDS = 5;

/** A path within a value, as in `redirects.0.url`, and the text of the leaf. */
type Row = readonly [name: string, value: string];

/** A table with what stands over it. */
interface Block {
  readonly title: string | null;
  readonly lines: readonly string[];
  readonly rows: readonly Row[];
  /** Rows left out. */
  readonly more: number;
}

interface Body {
  readonly heading: string;
  readonly blocks: readonly Block[];
  readonly jsonPath: string;
}

const renderBody: (body: Body) => string = compileTemplate(`
<h1><%= it.heading %></h1>
<% for (const block of it.blocks) { %>
<% if (block.title !== null) { %><h2><%= block.title %></h2><% } %>
<% for (const line of block.lines) { %><p><%= line %></p><% } %>
<table><tbody>
<% for (const row of block.rows) { %><tr><th scope="row"><%= row[0] %></th><td><%= row[1] %></td></tr><% } %>
</tbody></table>
<% if (block.more > 0) { %><p><%= block.more %> more lines are in the JSON.</p><% } %>
<% } %>
<p><a href="<%= it.jsonPath %>">This page as JSON</a></p>
`);

/** The page of a shared measurement: complete without script; the template escapes every value. */
export function renderSharePage(shown: PublicMeasurement): string {
  const heading = clip(shown.target === null ? shown.title : `${shown.title}: ${shown.target}`);
  const { locations, summary } = shown.data;
  const blocks = [
    makeBlock(listFacts(shown)),
    ...(locations.length > 1 ? [makeBlock(listRows(summary), "Summary")] : []),
    ...locations.map(describeLocation),
  ];
  const jsonPath = `/s/${encodeURIComponent(shown.share_id ?? "")}?format=json`;
  const refreshSeconds = shown.finished_at === null ? REFRESH_SECONDS : null;
  return renderDocument({ title: heading, refreshSeconds }, renderBody({ heading, blocks, jsonPath }));
}

function listFacts({ tool, params, status, completed, total, ...times }: PublicMeasurement): readonly Row[] {
  const isRunning = times.finished_at === null;
  return [
    ["Tool", tool],
    ...Object.entries(params).map(([name, value]): Row => [name, textOf(value)]),
    ["Status", isRunning ? `${status}, ${completed} of ${total} locations` : status],
    ["Asked", times.created_at],
    ...(times.finished_at === null ? [] : [["Finished", times.finished_at] as const]),
  ];
}

function describeLocation(row: PublicMeasurement["data"]["locations"][number]): Block {
  const { region, city, country, asn } = row.location;
  const where = [region, city, country, asn === null ? null : `AS${asn}`].filter((part) => part !== null).join(", ");
  const title = `From ${clip(where)}`;
  const took = `Took ${row.duration_ms} ms.`;
  if (row.status === "ok") return makeBlock(listRows(row.data), title, [took]);
  const { message, ...cause } = row.error;
  return makeBlock(listRows(cause), title, [took, `Failed: ${clip(message)}`]);
}

function makeBlock(rows: readonly Row[], title: string | null = null, lines: readonly string[] = []): Block {
  const shown = rows.slice(0, MOST_ROWS).map(([name, value]): Row => [clip(name), clip(value)]);
  return { title, lines, rows: shown, more: rows.length - shown.length };
}

/** The leaves of a value as rows of a table; fields without a value are left out. */
function listRows(value: unknown): readonly Row[] {
  const { leaves } = listLeaves(value, MOST_LEAVES);
  return leaves.flatMap(([path, leaf]): readonly Row[] => {
    if (leaf === undefined) return [];
    if (typeof leaf !== "object" || leaf === null) return [[path, textOf(leaf)]];
    return [[path, Array.isArray(leaf) ? "none" : "-"]];
  });
}

function textOf(value: unknown): string {
  if (value === null) return "unknown";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function clip(text: string): string {
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)} ...` : text;
}
