import type { PublicMeasurement } from "#control-plane/checks/measurements/public.ts";
import { renderAnswers } from "#control-plane/core/pages/answers.ts";
import { renderDocument } from "#control-plane/core/pages/frame.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import { toLocationAnswer } from "#shared/presentation/locations.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import type { Contract } from "#shared/tools/define.ts";

/** Maximum size of the data on the page itself, in characters; the JSON has any. */
const MOST_DATA = 32_000;
const MOST_TEXT = 300;
/** Reload interval of the page of a running measurement, seconds. */
const REFRESH_SECONDS = 5;

const renderEnd: (end: { readonly data: string | null; readonly jsonPath: string }) => string = compileTemplate(`
<h2>All data</h2>
<% if (it.data !== null) { %><details><summary>Show the data</summary><pre role="group" tabindex="0" aria-label="Data"><%= it.data %></pre></details><% } %>
<p><a href="<%= it.jsonPath %>">This page as JSON</a></p>
<p><a href="/">Check something yourself</a></p>
`);

/**
 * Renders the page of a shared measurement by the presentation of its tool, absent for a tool that does not exist any
 * more. It needs no script. `now` is the time that dates are compared with.
 */
export function renderSharePage(shown: PublicMeasurement, contract: Contract | undefined, now: Date): string {
  const title = truncate(shown.target === null ? shown.title : `${shown.title}: ${shown.target}`);
  const jsonPath = `/s/${encodeURIComponent(shown.share_id ?? "")}?format=json`;
  const refreshSeconds = shown.finished_at === null ? REFRESH_SECONDS : null;
  const text = JSON.stringify(shown.data, null, 2);
  const body = [
    renderResults(title, shown, contract, now),
    renderEnd({ data: text.length > MOST_DATA ? null : text, jsonPath }),
  ];
  return renderDocument({ title, refreshSeconds }, body.join(""));
}

function renderResults(title: string, shown: PublicMeasurement, contract: Contract | undefined, now: Date): string {
  const about = describeMeasurement(title, shown);
  const answers = shown.data.locations.map((row) => toLocationAnswer(row));
  return renderAnswers({ contract, answers, title, about, now });
}

/** Describes the target, the places, the time and the parameters in lines above the results. */
function describeMeasurement(title: string, shown: PublicMeasurement): readonly string[] {
  const { status, completed, total, created_at: asked, finished_at: finished, data } = shown;
  const params = Object.entries(shown.params).map(([name, value]) => `${name} ${textOf(value)}`);
  const [only] = data.locations.length === 1 ? data.locations.map((row) => toLocationAnswer(row).place) : [];
  return [
    [title, only === undefined ? `${total} locations` : `from ${only}`, `asked ${asked}`].join(" · "),
    ...(finished === null ? [`${status}: ${completed} of ${total} locations have answered`] : []),
    ...(params.length === 0 ? [] : [truncate(params.join(", "))]),
  ];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function truncate(text: string): string {
  return toPlainLine(text, MOST_TEXT);
}
