import { listLeaves } from "#shared/leaves.ts";
import type { PublicMeasurement } from "#control-plane/measurements/public.ts";
import { renderDocument } from "#control-plane/pages/frame.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";

/** Maximum number of rows of one location's table; the JSON has the whole answer. */
const MOST_ROWS = 400;
/** Maximum number of counted leaves of one location's answer. */
const MOST_LEAVES = 50_000;
const MOST_TEXT = 500;
/** Reload interval of the page of a running measurement, seconds. */
const REFRESH_SECONDS = 5;

/** A path within a value, as in `redirects.0.url`, and the text of the leaf. */
type Row = readonly [name: string, value: string];

/** A table with its title and the lines above it. */
interface Block {
  readonly title: string | null;
  readonly lines: readonly string[];
  readonly rows: readonly Row[];
  /** Number of omitted rows. */
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

/** Renders the page of a shared measurement. It needs no script; the template escapes every value. */
export function renderSharePage(shown: PublicMeasurement): string {
  const heading = truncate(shown.target === null ? shown.title : `${shown.title}: ${shown.target}`);
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
  const title = `From ${truncate(where)}`;
  const took = `Took ${row.duration_ms} ms.`;
  if (row.status === "ok") return makeBlock(listRows(row.data), title, [took]);
  const { message, ...cause } = row.error;
  return makeBlock(listRows(cause), title, [took, `Failed: ${truncate(message)}`]);
}

function makeBlock(rows: readonly Row[], title: string | null = null, lines: readonly string[] = []): Block {
  const shown = rows.slice(0, MOST_ROWS).map(([name, value]): Row => [truncate(name), truncate(value)]);
  return { title, lines, rows: shown, more: rows.length - shown.length };
}

/** Returns the leaves of a value as table rows; fields without a value are omitted. */
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

function truncate(text: string): string {
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)} ...` : text;
}
